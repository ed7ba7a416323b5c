import CTransportSupport
import Dispatch
import Glibc
import RelayCore

/// What the C loop calls: one without type parameters.
class AnySender {
    func send(_ number: UInt64, _ sentAt: UInt64) {}
}

final class ServiceSender<E: MeasuredEvent>: AnySender {
    private let run: UnsafeMutablePointer<transport_run>
    private let service: EventService
    /// Outside of the object: a variable of a class is guarded at each access, which is no part of a publish.
    private let event: UnsafeMutablePointer<E>

    init(_ run: UnsafeMutablePointer<transport_run>, service: String, bus: String) throws {
        self.run = run
        event = .allocate(capacity: 1)  // As long as the process.
        event.initialize(to: E())
        self.service = try EventService(name: service, on: .address(bus), exporting: E.Interface.self)
    }
    func sendAll() throws {
        let isReady = DispatchSemaphore(value: 0)
        let service = service
        let running = Task {
            do { try await service.run { isReady.signal() } } catch { transport_fail("service", "\(error)") }
        }
        isReady.wait()
        transport_send_all(
            run,
            { context, number, sentAt in
                Unmanaged<AnySender>.fromOpaque(context!)._withUnsafeGuaranteedRef { $0.send(number, sentAt) }
            },
            Unmanaged.passUnretained(self as AnySender).toOpaque())
        running.cancel()
    }
    override func send(_ number: UInt64, _ sentAt: UInt64) {
        event.pointee.fill(number, sentAt)
        do { try service.publish(event.pointee) } catch { transport_fail("publish", "\(error)") }
    }
}
