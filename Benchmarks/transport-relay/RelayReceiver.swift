import CTransportSupport
import Dispatch
import Glibc
import RelayCore

struct RelayReceiver<E: MeasuredEvent> {
    private let run: UnsafeMutablePointer<transport_run>
    private let relay: EventRelay

    init(_ run: UnsafeMutablePointer<transport_run>, service: String, bus: String) throws {
        self.run = run
        relay = try EventRelay(following: service, on: .address(bus), interfaces: E.Interface.self)
    }
    func receiveAll() throws {
        // Used by the one thread on which this subscription's handler runs.
        nonisolated(unsafe) let run = run
        let hasEnded = DispatchSemaphore(value: 0)
        let subscription = relay.publisher.subscribe(to: E.self, delivery: .immediate) { event in
            if event.take(run) { hasEnded.signal() }
        } onGap: { _ in
        }
        relay.activate()
        transport_attached(run)
        hasEnded.wait()
        subscription.cancel()
        relay.invalidate()
    }
}
