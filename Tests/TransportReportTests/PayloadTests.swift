import CTransportSupport
import Testing

@Suite("Bench payloads")
struct PayloadTests {
    @Test("a payload is whole until a byte of it changes", arguments: [64, 256, 1_024, 4_096])
    func sums(size: Int) {
        let page = UnsafeMutablePointer<transport_page>.allocate(capacity: 1)
        page.initialize(to: transport_page())
        defer { page.deallocate() }
        var run = transport_run()
        run.page = page
        run.own = transport_receiver_of(page, 0)
        run.options.size = UInt32(size)
        run.options.load = TRANSPORT_FULL
        run.stride = 1
        let words = UnsafeMutablePointer<UInt64>.allocate(capacity: size / 8)
        defer { words.deallocate() }
        for number in UInt64(1)...100 {
            transport_fill(words, UInt32(size), number, 77)
            #expect(!transport_take(&run, words))
        }
        let own = transport_receiver_of(page, 0)!
        #expect(own.pointee.received == 100 && own.pointee.damaged == 0 && own.pointee.reordered == 0)
        #expect(own.pointee.progress == 100)
        for place in 1..<(size / 8) {
            transport_fill(words, UInt32(size), UInt64(100 + place), 77)
            words[place] ^= 1 << UInt64(place % 64)
            _ = transport_take(&run, words)
        }
        #expect(own.pointee.damaged == UInt64(size / 8 - 1))
        // What came before comes again.
        transport_fill(words, UInt32(size), 5, 77)
        _ = transport_take(&run, words)
        #expect(own.pointee.reordered == 1)
        transport_fill(words, UInt32(size), UInt64.max, 0)
        #expect(transport_take(&run, words))
        #expect(own.pointee.state == UInt64(TRANSPORT_FINISHED))
    }
}
