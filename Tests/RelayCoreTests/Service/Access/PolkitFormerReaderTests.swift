import RelayTestKit
import TestTraits
import Testing

@testable import RelayCore

/// Peers that are no readers any more when polkit's word comes, and still have the ring's memory.
@Suite("Former readers whose authorisation is withdrawn", .heavy, .tags(.g7)) struct PolkitFormerReaderTests {
    private let bus: PrivateBus
    private var system: Bus { .system(at: bus.address) }

    init() throws { bus = try PrivateBus() }

    private static let path = WatchedDesk.path(Flow1.name)
    private static var opening: MethodCall {
        MethodCall(to: WatchedDesk.name, path: path, interface: Stream1.name, member: "OpenRing")
    }
    private func openRing(_ peer: BusStranger, after sequence: UInt64 = 0) async throws -> RingReader {
        let reply = try await peer.connection.call(Self.opening)
        let area = try #require(reply.descriptors.first).withNumber { try RingArea(receiving: $0) }
        return RingReader(area, after: sequence, atTail: false)
    }
    private func stream(_ desk: WatchedDesk) throws -> PublishedStream {
        try #require(desk.service.core.interfaces.first { $0.name == Flow1.name }).stream
    }
    /// What is published now is not in the ring.
    private func expectEnd(_ reader: inout RingReader, _ desk: WatchedDesk) throws {
        try desk.service.publish(Flowed(number: 1))
        guard case .ended = try reader.next() else { throw RelayError(.conflict, "the ring goes on") }
    }

    enum Escape: CaseIterable { case leaves, givesBack }

    @Test(
        "G7: who leaves, or gives its ring back, while polkit is asked about it reads no further",
        arguments: Escape.allCases)
    func duringRecheck(_ escape: Escape) async throws {
        let authority = try await FakeAuthority.join(system) { _ in .yes }
        let desk = try await WatchedDesk(system)
        let peer = try await BusStranger.join(system)
        var reader = try await openRing(peer)
        let stream = try stream(desk)
        authority.rule { _ in .later }
        try authority.announceChange()
        #expect(await eventually { authority.waiting.count == 1 })
        switch escape {
        case .leaves: peer.connection.close()
        case .givesBack: _ = try await peer.call(WatchedDesk.name, Self.path, Stream1.name, "CloseRing")
        }
        #expect(await eventually { stream.withRing { $0.readers.isEmpty } })
        authority.settle(.no)
        #expect(await eventually { !stream.hasRing })
        try expectEnd(&reader, desk)
        try await desk.stop()
    }
    @Test("G7: who leaves with its ring reads no further after the next round, though nobody announced a change")
    func unannounced() async throws {
        let authority = try await FakeAuthority.join(system) { _ in .yes }
        let desk = try await WatchedDesk(system, timing: ServiceTiming { $0.permissions = .milliseconds(20) })
        let (peer, honest) = (try await BusStranger.join(system), try await BusStranger.join(system))
        var reader = try await openRing(peer)
        let stream = try stream(desk)
        peer.connection.close()
        // Nobody is left about whom polkit could be asked.
        #expect(await eventually { !stream.hasRing })
        try expectEnd(&reader, desk)
        // Who gives its ring back and stays is asked about: its ring stays, too, until polkit denies it.
        var other = try await openRing(honest, after: 1)
        _ = try await honest.call(WatchedDesk.name, Self.path, Stream1.name, "CloseRing")
        let asked = authority.questions.count
        #expect(await eventually { authority.questions.count >= asked + 3 })
        #expect(stream.hasRing)
        // It left after it had given its ring back.
        honest.connection.close()
        #expect(await eventually { !stream.hasRing })
        try expectEnd(&other, desk)
        try await desk.stop()
    }
}
