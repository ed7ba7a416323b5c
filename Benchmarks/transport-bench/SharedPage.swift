import CTransportSupport
import Foundation
import TransportReport

/// The memory through which the peers of one run speak.
final class SharedPage {
    let path: String
    private let page: UnsafeMutablePointer<transport_page>
    private let size: Int
    private let count: UInt64
    private let receivers: UInt32

    init(in folder: String, count: Int, receivers: Int) throws {
        path = "\(folder)/page"
        (self.count, self.receivers) = (UInt64(count), UInt32(receivers))
        size = transport_page_size(self.count, self.receivers)
        unlink(path)
        let file = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        defer { close(file) }
        guard file >= 0, ftruncate(file, off_t(size)) == 0,
            let memory = mmap(nil, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0), memory != MAP_FAILED
        else { throw BenchFailure(message: "no shared memory at \(path): \(String(cString: strerror(errno)))") }
        page = memory.assumingMemoryBound(to: transport_page.self)
    }
    deinit {
        munmap(page, size)
        unlink(path)
    }
    var isPrepared: Bool { transport_sender_state(page) >= UInt64(TRANSPORT_PREPARED) }
    var isDone: Bool { transport_sender_state(page) == UInt64(TRANSPORT_DONE) }
    func go() { transport_go(page) }

    private func array(_ words: UnsafeMutablePointer<UInt64>) -> [UInt64] {
        Array(UnsafeBufferPointer(start: words, count: Int(count)))
    }
    /// Nanoseconds for one publish, in a row of many.
    var tightTime: Double { Double(page.pointee.tight_picoseconds) / 1_000 }
    var callers: [UInt64] { array(transport_callers(page, count)) }
    var cpuTimes: [UInt64] { array(transport_cpu_times(page, count)) }
    var wallTimes: [UInt64] { array(transport_wall_times(page, count)) }
    func sample(daemonCPU: UInt64) throws -> Sample {
        let all = try (0..<receivers).map { index in
            let one = transport_receiver_of(page, index).pointee
            if one.damaged > 0 || one.reordered > 0 {
                throw BenchFailure(
                    message: "receiver \(index): \(one.damaged) damaged events, \(one.reordered) twice or out of order")
            }
            return Sample.Receiver(
                received: one.received, cpu: one.cpu, firstAt: one.first_at, lastAt: one.last_at,
                latencies: array(transport_latencies(page, count, index)))
        }
        return Sample(
            sent: page.pointee.sent, senderCPU: page.pointee.cpu, daemonCPU: daemonCPU, callers: callers, receivers: all
        )
    }
}
