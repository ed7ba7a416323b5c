import CTransportSupport
import Glibc
import RelayCore

/// Publishes payloads as wire bytes, and knows no types.
final class RingSender {
    private let run: UnsafeMutablePointer<transport_run>
    private let ring: RingWriter
    private let pages: [WaitPage]
    private let payload: UnsafeMutableRawBufferPointer

    init(_ run: UnsafeMutablePointer<transport_run>) throws {
        self.run = run
        let options = run.pointee.options
        ring = try RingWriter("bench", events: [RingEvent(name: "Payload")], epoch: 1, waker: RingWaker())
        pages = try (0..<Int(options.receivers)).map { try WaitPage(slot: $0) }
        payload = .allocate(byteCount: Int(options.size), alignment: 64)
    }
    deinit { payload.deallocate() }

    func sendAll() throws {
        let page = run.pointee.page!
        for (index, waitPage) in pages.enumerated() {
            ring.attach(waitPage)
            transport_receiver_of(page, UInt32(index)).pointee.descriptor = UInt64(waitPage.descriptor)
        }
        // Last: it says that all the others are there.
        transport_store_word(&page.pointee.descriptor, UInt64(ring.descriptor))
        transport_send_all(
            run,
            { context, number, sentAt in
                Unmanaged<RingSender>.fromOpaque(context!)._withUnsafeGuaranteedRef { $0.send(number, sentAt) }
            }, Unmanaged.passUnretained(self).toOpaque())
    }
    private func send(_ number: UInt64, _ sentAt: UInt64) {
        transport_fill(payload.baseAddress, UInt32(payload.count), number, sentAt)
        do { try ring.publish(0, UnsafeRawBufferPointer(payload)) } catch { transport_fail("publish", "\(error)") }
    }
}
