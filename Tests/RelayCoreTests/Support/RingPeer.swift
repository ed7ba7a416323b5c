import RelayTestKit
import Synchronization
import Testing

@testable import RelayCore
import RelayWire

/// A subscriber by hand: opens rings over the bus, reads them, sleeps on its page.
final class RingPeer: Sendable {
    struct Record: Hashable, Sendable {
        var kind: Int
        var sequence: UInt64
        var previous: UInt64
        var publishedAt: Timestamp
        var payload: [UInt8]
        var isTooLarge = false

        init(_ kind: Int, _ stamp: Stamp, _ payload: [UInt8], isTooLarge: Bool) {
            (self.kind, sequence, previous) = (kind, stamp.sequence, stamp.previous)
            (publishedAt, self.payload, self.isTooLarge) = (stamp.publishedAt, payload, isTooLarge)
        }
    }
    let stranger: BusStranger
    /// The page of the first ring.
    private let page = Mutex<RingWaiter?>(nil)

    private init(_ stranger: BusStranger) { self.stranger = stranger }
    static func join(_ bus: Bus) async throws -> RingPeer { RingPeer(try await BusStranger.join(bus)) }

    func call(_ service: String, _ interface: String) async throws -> BusReply {
        try await stranger.connection.call(
            MethodCall(to: service, path: Stream1.path(of: interface), interface: Stream1.name, member: "OpenRing"))
    }
    func openRing(_ service: String, _ interface: String, after: UInt64 = 0) async throws -> RingReader {
        let reply = try await call(service, interface)
        guard reply.signature == Stream1.openRingSignature, reply.descriptors.count == 2 else {
            throw RelayError(.schemaMismatch, "\(reply.signature), \(reply.descriptors.count) descriptors")
        }
        try page.withLock { page in
            // The same with every ring; it can be mapped once.
            if page == nil {
                page = try reply.descriptors[1].withNumber { number in
                    let waiter = try RingWaiter(receiving: number)
                    #expect(WaitPage.seal(number))
                    return waiter
                }
            }
        }
        return RingReader(try reply.descriptors[0].withNumber { try RingArea(receiving: $0) }, after: after)
    }
    var waiter: RingWaiter { page.withLock { $0 }! }  // Opened one: see `openRing`.

    /// The last three arguments of the signals of these names.
    func stamps(of names: Set<String>) -> [[DBusValue]] {
        stranger.signals.filter { names.contains($0.member) }.map { Array($0.values.suffix(3)) }
    }
    /// Reads until this sequence has come.
    func drain(_ reader: inout RingReader, to last: UInt64) async throws -> [Record] {
        var records: [Record] = []
        while records.last?.sequence ?? 0 < last {
            switch try reader.next() {
            case .record(let kind, let stamp):
                records.append(Record(kind, stamp, Array(reader.payload), isTooLarge: false))
            case .tooLarge(let kind, let stamp): records.append(Record(kind, stamp, [], isTooLarge: true))
            case .absent, .lapped: break
            case .ended: return records
            case .empty: try await Task.sleep(for: .microseconds(200))
            }
            if Task.isCancelled { break }
        }
        return records
    }
}
