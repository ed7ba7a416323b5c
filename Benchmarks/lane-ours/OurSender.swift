import CLaneSupport
import Dispatch
import Glibc
import RelayCore

/// What the C loop calls: one without type parameters.
class AnySender {
    func send(_ number: UInt64, _ sentAt: UInt64) {}
    func prepare() {}
}

final class OurSender<E: LaneEvent>: AnySender {
    private let run: UnsafeMutablePointer<lane_run>
    private let service: EventService
    private let pauses: Bool
    private var event = E()

    init(_ run: UnsafeMutablePointer<lane_run>, service: String, bus: String, pauses: Bool) throws {
        (self.run, self.pauses) = (run, pauses)
        self.service = try EventService(name: service, on: .address(bus), exporting: E.Interface.self)
    }
    func sendAll() throws {
        let isReady = DispatchSemaphore(value: 0)
        let service = service
        let running = Task {
            do { try await service.run { isReady.signal() } } catch { lane_fail("service", "\(error)") }
        }
        isReady.wait()
        lane_send_all(
            run,
            { context, number, sentAt in
                Unmanaged<AnySender>.fromOpaque(context!).takeUnretainedValue().send(number, sentAt)
            },
            { context in Unmanaged<AnySender>.fromOpaque(context!).takeUnretainedValue().prepare() },
            Unmanaged.passUnretained(self as AnySender).toOpaque())
        running.cancel()
    }
    override func send(_ number: UInt64, _ sentAt: UInt64) {
        event.fill(number, sentAt)
        do { try service.publish(event) } catch { lane_fail("publish", "\(error)") }
    }
    /// Uses up the signals that may come at once: from then on, at more than the budget's rate, there are none.
    override func prepare() {
        guard pauses else { return }
        for _ in 0..<5_000 { send(0, 0) }
        usleep(100_000)
    }
}
