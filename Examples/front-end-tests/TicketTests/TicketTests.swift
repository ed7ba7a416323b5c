import RelayCore
import RelayTestKit
import Synchronization
import Testing
import TicketViews
import Tickets

/// The window's model without a bus, on a service of the tests' own.
@Suite("A board of tickets") @MainActor struct TicketTests {
    private static let name = "org.example.HelpDesk"
    private let harness = TestHarness()

    private func start(_ log: MemoryLog) async throws -> EventService {
        let service = try EventService(name: Self.name, on: harness.bus, exporting: Tickets1.self, journal: log)
        service.handle(OpenTicket.self) { command, context in
            guard !command.title.isEmpty else { throw OpenTicket.Refusal.noTitle }
            try await context.publish(TicketOpened(ticketID: 7, title: command.title))
            return OpenTicket.Reply(ticketID: 7)
        }
        try await harness.start(service)
        return service
    }
    private func board(user: UInt32? = nil) throws -> TicketBoard {
        let relay = try EventRelay(
            following: Self.name, on: user.map { harness.bus(user: $0) } ?? harness.bus, interfaces: Tickets1.self)
        let board = try TicketBoard(relay)
        relay.activate()
        return board
    }

    @Test("shows what was opened, and how each attempt ended") func opening() async throws {
        let service = try await start(MemoryLog())
        try await service.publish(TicketOpened(ticketID: 1, title: "Printer"))
        let board = try board()
        await board.open("Lamp")
        #expect(board.note == "Is ticket #7.")
        await board.open("")
        #expect(board.note == "A ticket needs a title.")
        try await service.publish(TicketClosed(ticketID: 1))
        try await harness.settle()
        #expect(board.tickets == [7: "Lamp"])
    }
    @Test("stays in step over lost events, and over a restart of the service") func restart() async throws {
        let log = MemoryLog()
        let service = try await start(log)
        let board = try board()
        try await harness.settle()
        harness.loseEvents(2, of: Tickets1.self)
        for number in Int64(1)...3 { try await service.publish(TicketOpened(ticketID: number, title: "Lamp")) }
        try await harness.settle()
        #expect(board.tickets.count == 3)
        try await harness.stop(service)
        #expect(await eventually { board.isAway })
        await board.open("Lamp")
        #expect(board.note == "The help desk is away.")
        _ = try await start(log.reopened())
        #expect(await eventually { !board.isAway })
        await board.open("Kettle")
        try await harness.settle()
        #expect(board.tickets.count == 4)
        #expect(board.note == "Is ticket #7.")
    }
    @Test("says what it cannot read") func gap() async throws {
        enum Later {
            enum Tickets1: EventInterface {
                static let name = "org.example.Tickets1"
                static var contract: Contract<Self> { TicketOpened.self }
            }
            struct TicketOpened: DomainEvent {
                typealias Interface = Tickets1
                let ticketID: String
            }
        }
        let service = try EventService(
            name: Self.name, on: harness.bus, exporting: Later.Tickets1.self, journal: MemoryLog())
        try await harness.start(service)
        let board = try board()
        try await service.publish(Later.TicketOpened(ticketID: "A-7"))
        try await harness.settle()
        #expect(board.note.contains("1 event is missing"))
    }
    @Test("does not wait for ever") func silence() async throws {
        let service = try EventService(
            name: Self.name, on: harness.bus, exporting: Tickets1.self, journal: MemoryLog())
        let (answers, answer) = AsyncStream.makeStream(of: Void.self)
        service.handle(OpenTicket.self) { _, _ in
            for await _ in answers { break }
            return OpenTicket.Reply(ticketID: 1)
        }
        try await harness.start(service)
        let board = try board()
        let call = Task { await board.open("Lamp") }
        #expect(await eventually { await harness.isCalling })
        try await harness.advance(by: .seconds(25))
        await call.value
        #expect(board.note == "It may have been done: look.")
        answer.finish()
    }
    @Test("says that others may not") func stranger() async throws {
        _ = try await start(MemoryLog())
        let board = try board(user: 1_001)
        await board.open("Lamp")
        #expect(board.note == "You may not do that.")
    }
}
