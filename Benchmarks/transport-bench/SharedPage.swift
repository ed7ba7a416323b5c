import BenchSupport
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
    /// Where the sender shows that it is done: its end of this pipe closes, whatever becomes of it.
    private let done: Int32
    private var donePath: String { "\(path).done" }

    init(in folder: String, count: Int, receivers: Int) throws {
        path = "\(folder)/page"
        (self.count, self.receivers) = (UInt64(count), UInt32(receivers))
        size = transport_page_size(self.count, self.receivers)
        unlink(path)
        let file = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        defer { close(file) }
        guard file >= 0, ftruncate(file, off_t(size)) == 0,
            let memory = mmap(nil, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0), memory != MAP_FAILED
        else { throw BenchError(message: "no shared memory at \(path): \(String(cString: strerror(errno)))") }
        unlink("\(path).done")
        guard mkfifo("\(path).done", 0o600) == 0 else {
            throw BenchError(message: "no pipe at \(path).done: \(String(cString: strerror(errno)))")
        }
        done = open("\(path).done", O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        page = memory.assumingMemoryBound(to: transport_page.self)
    }
    deinit {
        munmap(page, size)
        close(done)
        unlink(path)
        unlink(donePath)
    }
    var isPrepared: Bool { transport_sender_state(page) >= UInt64(TRANSPORT_PREPARED) }
    var isDone: Bool { transport_sender_state(page) == UInt64(TRANSPORT_DONE) }
    func go() { transport_go(page) }
    /// Sleeps until the sender is done or has died. False after so many seconds.
    func waitUntilDone(_ seconds: Int) -> Bool { transport_wait_done(done, Int32(1_000 * seconds)) }

    private func array(_ words: UnsafeMutablePointer<UInt64>) -> [UInt64] {
        Array(UnsafeBufferPointer(start: words, count: Int(count)))
    }
    /// Nanoseconds for one publish, in a row of many.
    var tightTime: Double { Double(page.pointee.tight_picoseconds) / 1_000 }
    var callers: [UInt64] { array(transport_callers(page, count)) }
    var cpuTimes: [UInt64] { array(transport_cpu_times(page, count)) }
    var wallTimes: [UInt64] { array(transport_wall_times(page, count)) }
    /// Of a probe: those of the sender's processor, or the receiver's.
    func stops(ofSender isSender: Bool, in nanoseconds: Double) -> Stops {
        let lengths = isSender ? callers : array(transport_latencies(page, count, 0))
        return Stops(lengths.filter { $0 > 0 }, in: nanoseconds)
    }
    func sample(daemonCPU: UInt64) throws -> Sample {
        let all = try (0..<receivers).map { index in
            let one = transport_receiver_of(page, index).pointee
            if one.damaged > 0 || one.reordered > 0 {
                throw BenchError(
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
