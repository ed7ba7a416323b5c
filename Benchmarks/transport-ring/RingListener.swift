import CTransportSupport
import Glibc
import RelayCore

/// Reads the ring, spinning or sleeping on its wait page.
struct RingListener {
    private let run: UnsafeMutablePointer<transport_run>

    init(_ run: UnsafeMutablePointer<transport_run>) { self.run = run }

    func receiveAll() throws {
        let (page, own) = (run.pointee.page!, run.pointee.own!)
        while transport_load_word(&page.pointee.descriptor) == 0 { usleep(500) }
        let process = page.pointee.process
        let area = try RingArea(
            receiving: TransportRing.descriptor(page.pointee.descriptor, of: process, O_RDONLY))
        let waiter = try RingWaiter(receiving: TransportRing.descriptor(own.pointee.descriptor, of: process, O_RDWR))
        var reader = RingReader(area, after: 0)
        transport_attached(run)
        let spinning = run.pointee.options.spins ? RingWaiter.Spinning(pauses: .max) : .standard
        while true {
            switch try reader.next() {
            case .record:
                if transport_take(run, reader.payload.baseAddress) { return }
            case .empty:
                // In the spinning form it does not sleep, however long nothing comes; else it does after the usual while.
                _ = waiter.wait(spinning: spinning) { reader.hasNews }
            // What was overwritten is what was sent and not received.
            default: break
            }
        }
    }
}
