import RelayTestKit
import Synchronization
import Testing

@testable import RelayCore

/// The ring as a lane, from the service's end: a bus, a service, and peers that know the protocol and no more.
@Suite("The ring lane", .timeLimit(.minutes(1))) struct RingLaneTests {
    @Test("every peer gets the one ring and a page of its own, and the ring has what is published from then on")
    func open() async throws {
        let desk = try await Desk()
        try desk.service.publish(Torn(number: 1))
        let (first, second) = (try await RingPeer.join(desk.bus.bus), try await RingPeer.join(desk.bus.bus))
        var one = try await first.openRing(Desk.name, Desk1.name)
        var two = try await second.openRing(Desk.name, Desk1.name)
        #expect(one.header.base == 1 && one.header.events.map(\.name) == ["Noted", "Torn"] && one.header.lane == 0)
        for number: Int64 in 2...100 {
            if number % 3 == 0 {
                try desk.service.publish(Noted(text: "number \(number)", number: number))
            } else {
                try desk.service.publish(Torn(number: number))
            }
        }
        let (records, others) = (try await first.drain(&one, to: 100), try await second.drain(&two, to: 100))
        #expect(records == others)
        #expect(records.map(\.sequence) == Array(2...100))
        #expect(records.map(\.kind) == (2...100).map { $0 % 3 == 0 ? 0 : 1 })
        #expect(records[0].previous == 1 && records[1].previous == 0 && records[2].previous == 2)
        // The wire encoding of the fields, without the stamp.
        let codec = try WireCodec(event: Noted.self)
        let last = try #require(records.last { $0.kind == 0 })
        let noted = try last.payload.withUnsafeBytes { try codec.decode($0, using: codec.map) }
        #expect(noted == Noted(text: "number 99", number: 99))
        #expect(desk.service.core.interfaces[0].lane.hasRing)
        try await desk.stop()
        #expect(try one.next() == .ended)
        #expect(try two.next() == .ended)
    }
}
