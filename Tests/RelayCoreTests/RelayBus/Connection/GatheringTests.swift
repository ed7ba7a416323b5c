import RelayTestKit
import TestTraits
import Testing

@testable import RelayBus
import RelayWire

@Suite("What is sent together", .heavy, .tags(.g1)) struct GatheringTests {
    let fixture: BusFixture
    init() throws { fixture = try BusFixture() }

    @Test("what a turn gathers arrives whole and in order, before the next turn's", arguments: [1, 40, 400])
    func order(count: UInt32) async throws {
        let (sender, receiver) = (try await fixture.peer(), try await fixture.peer())
        let (connection, name, signature) = (sender.connection, receiver.name, try Signature("u"))
        for turn: UInt32 in 0..<3 {
            fixture.loop.execute {
                connection.loop.gather()
                for number in 0..<count {
                    let body = wire { $0.uint32(turn * count + number) }
                    try? connection.send(.test(name, "Went", signature), body: body)
                }
            }
        }
        let expected = (0..<3 * count).map { number in wire { $0.uint32(number) } }
        #expect(await eventually { receiver.handler.signals.count == expected.count })
        #expect(receiver.handler.signals.map(\.body) == expected)
        #expect(connection.outgoingBytes == 0)
    }
    @Test("a connection that is closed in the turn of what it sent has sent it") func closed() async throws {
        let (sender, receiver) = (try await fixture.peer(), try await fixture.peer())
        let (connection, name) = (sender.connection, receiver.name)
        fixture.loop.execute {
            connection.loop.gather()
            for _ in 0..<3 { try? connection.send(.test(name)) }
            #expect(connection.outgoingBytes > 0, "they are not gathered")
            connection.close()
        }
        #expect(await eventually { receiver.handler.signals.count == 3 })
    }
    @Test("a thread that lent a turn's end, and is too late for it, sends at once") func late() async throws {
        let (sender, receiver) = (try await fixture.peer(), try await fixture.peer())
        // No turn gathers, once that which brought the answers has ended: a job for its end is not taken.
        #expect(await eventually { !fixture.loop.atEnd {} })
        try sender.connection.send(.test(receiver.name))
        #expect(await eventually { receiver.handler.signals.count == 1 })
    }
}
