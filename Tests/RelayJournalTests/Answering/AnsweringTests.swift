import RelayCore
import RelayTestKit
import Synchronization
import TestTraits
import Testing

@testable import RelayJournal
import RelayWire
import RelayInspection

enum Shop1: EventInterface {
    static let name = "org.example.Shop1"
    static var contract: Contract<Self> {
        OrderPlaced.self
        PlaceOrder.self
        CancelOrder.self
    }
}
struct OrderPlaced: DomainEvent {
    typealias Interface = Shop1
    let orderID: Int64, item: String
}
struct PlaceOrder: IdempotentCommand {
    typealias Interface = Shop1
    var item: String
    var idempotencyKey: String?
    struct Reply: Codable, Sendable, Equatable { var orderID: Int64 }
    enum Refusal: String, CommandRefusal { case soldOut = "SoldOut" }
}
/// Its key is a field that it has anyway.
struct CancelOrder: IdempotentCommand {
    typealias Interface = Shop1
    var orderID: Int64
    var idempotencyKey: String? { "\(orderID)" }
}
/// The same command, as a later version of the shop answers it.
enum LaterShop1: EventInterface {
    static let name = Shop1.name
    static var contract: Contract<Self> { PlaceOrder.self }
    struct PlaceOrder: IdempotentCommand {
        typealias Interface = LaterShop1
        var item: String
        var idempotencyKey: String?
        struct Reply: Codable, Sendable, Equatable {
            var orderID: Int64
            var dueInDays: Int32?
        }
    }
}
/// And as one that answers with something else.
enum OtherShop1: EventInterface {
    static let name = Shop1.name
    static var contract: Contract<Self> { PlaceOrder.self }
    struct PlaceOrder: IdempotentCommand {
        typealias Interface = OtherShop1
        var item: String
        var idempotencyKey: String?
        struct Reply: Codable, Sendable { var orderID: String }
    }
}

@Suite("Commands that are sent again", .heavy, .tags(.g5, .g6)) struct AnsweringTests {
    private static func context(user: UInt32? = 1_000) -> CommandContext {
        CommandContext(peer: Peer(uniqueName: ":1.7", userID: user))
    }
    /// Counts how often it ran, and answers with that.
    private func place(
        _ item: String, key: String?, _ journal: EventJournal, user: UInt32? = 1_000
    ) async throws -> Int64 {
        try await journal.storage.answer(PlaceOrder(item: item, idempotencyKey: key), from: Self.context(user: user)) {
            unit in
            if item == "sold out" { throw PlaceOrder.Refusal.soldOut }
            let insert = "INSERT INTO orders (item) VALUES (?) RETURNING id"
            return PlaceOrder.Reply(orderID: try unit.query(SQL(insert, [SQLValue(item)])) { try $0[0] }[0])
        }.orderID
    }
    private func opened(_ folder: TestFolder) async throws -> EventJournal {
        let journal = try EventJournal(directory: folder.path)
        try await journal.migrate(
            "shop", by: [Migration("orders", "CREATE TABLE orders (id INTEGER PRIMARY KEY AUTOINCREMENT, item TEXT)")])
        return journal
    }
    private func count(_ table: String, _ journal: EventJournal) async throws -> Int {
        let figure = Mutex(-1)
        await journal.storage.call { engine in
            let number = (try? engine.database.integers("SELECT count(*) FROM \(table)")?.first) ?? -1
            figure.withLock { $0 = Int(number) }
        }
        return figure.withLock { $0 }
    }

    @Test("a repeated key is answered with the first reply, also after a restart") func repeated() async throws {
        let folder = try TestFolder()
        var journal = try await opened(folder)
        #expect(try await place("lamp", key: "a", journal) == 1)
        #expect(try await place("lamp", key: "a", journal) == 1)
        #expect(try await place("lamp", key: "b", journal) == 2)
        journal.close()
        journal = try await opened(folder)
        #expect(try await place("lamp", key: "a", journal) == 1)
        #expect(try await place("lamp", key: "b", journal) == 2)
        #expect(try await count("orders", journal) == 2)
    }
    @Test("without a key a command runs each time", arguments: [nil, ""]) func keyless(key: String?) async throws {
        let journal = try await opened(TestFolder())
        #expect(try await place("lamp", key: key, journal) == 1)
        #expect(try await place("lamp", key: key, journal) == 2)
        #expect(try await count("relay_replies", journal) == 0)
    }
    @Test("keys of other users and other commands are other keys") func scopes() async throws {
        let journal = try await opened(TestFolder())
        for (number, user) in ([1_000, 1_001, 0, .max] as [UInt32]).enumerated() {
            for _ in 1...2 { #expect(try await place("lamp", key: "1", journal, user: user) == Int64(number + 1)) }
        }
        let runs = Mutex(0)
        for _ in 1...2 {
            _ = try await journal.storage.answer(CancelOrder(orderID: 1), from: Self.context()) { _ in
                runs.withLock { $0 += 1 }
                return NoReply()
            }
        }
        #expect(runs.withLock { $0 } == 1)
    }
    @Test("a key of a caller who left before the bus said who it is does nothing; without a key the command runs")
    func unknownUser() async throws {
        let journal = try await opened(TestFolder())
        let error = await #expect(throws: RelayError.self) { try await place("lamp", key: "a", journal, user: nil) }
        #expect(error?.code == .unavailable)
        #expect(try await count("orders", journal) == 0)
        #expect(try await place("lamp", key: "a", journal) == 1)
        #expect(try await place("lamp", key: nil, journal, user: nil) == 2)
    }
    @Test("arguments without an order are the same in any order; those with one are not") func unordered() throws {
        struct Stock: Codable, Sendable { var tags: Set<String>, counts: [String: Int64] }
        struct Fill: IdempotentCommand {
            typealias Interface = Shop1
            var stock: [Stock], codes: Set<UInt8>, list: [Int64]
            var idempotencyKey: String?
        }
        let arguments = try CommandHash<Fill>()
        func hash(_ names: [String], capacity: Int, list: [Int64] = [1, 2], extra: Int64 = 0) throws -> Int64 {
            // Another capacity is another order, as another process is.
            var (tags, counts) = (Set<String>(minimumCapacity: capacity), [String: Int64](minimumCapacity: capacity))
            var codes = Set<UInt8>(minimumCapacity: capacity)
            for (number, name) in names.enumerated() {
                tags.insert(name)
                counts[name] = Int64(name.utf8.count)
                codes.insert(UInt8(name.utf8.first ?? 0))
                if number == 0 { counts[name, default: 0] += extra }
            }
            return try arguments.value(
                Fill(stock: [Stock(tags: tags, counts: counts)], codes: codes, list: list, idempotencyKey: "a")
            ).present
        }
        let names = ["a", "bb", "ccc", "dddd", "eeeee", "ffffff", "ggggggg"]
        let first = try hash(names, capacity: 0)
        for capacity in [8, 64, 512, 4_096] {
            #expect(try hash(names, capacity: capacity) == first)
            #expect(try hash(Array(names.reversed()), capacity: capacity) == first)
        }
        #expect(try hash(names, capacity: 0, list: [2, 1]) != first)
        #expect(try hash(names, capacity: 0, extra: 1) != first)
        #expect(try hash(Array(names.dropLast()), capacity: 0) != first)
    }
    @Test("a set within a type that is encoded as one value is compared as a set", arguments: [8, 64, 512, 4_096])
    func wrappedSet(capacity: Int) throws {
        struct Tags: Codable, Hashable, Sendable {
            var tags: Set<String>
            init(_ tags: Set<String>) { self.tags = tags }
            init(from decoder: any Decoder) throws {
                tags = try decoder.singleValueContainer().decode(Set<String>.self)
            }
            func encode(to encoder: any Encoder) throws {
                var container = encoder.singleValueContainer()
                try container.encode(tags)
            }
        }
        /// Of the same shape on the wire.
        struct Fill<Content: Codable & Sendable>: IdempotentCommand {
            typealias Interface = Shop1
            static var name: String { "Fill" }
            var content: Content, again: Content?, deep: [String: [Content]]
            var idempotencyKey: String?
        }
        let names = ["a", "bb", "ccc", "dddd", "eeeee", "ffffff", "ggggggg"]
        func hash<Content: Codable & Sendable>(_ content: Content) throws -> Int64 {
            let command = Fill(content: content, again: content, deep: ["a": [content]], idempotencyKey: "a")
            let value: ArgumentHash.Value = try CommandHash().value(command)
            return value.present
        }
        var other = Set<String>(minimumCapacity: capacity)
        for name in names.reversed() { other.insert(name) }
        #expect(try hash(Tags(other)) == hash(Tags(Set(names))))
        #expect(try hash(Tags(other)) != hash(Tags(Set(names.dropLast()))))
        // An array of the same shape keeps its order.
        #expect(try hash(names) != hash(Array(names.reversed())))
    }
    @Test("a key with other arguments is refused, and nothing is done") func reused() async throws {
        let journal = try await opened(TestFolder())
        #expect(try await place("lamp", key: "a", journal) == 1)
        let error = await #expect(throws: RelayError.self) { try await place("globe", key: "a", journal) }
        #expect(error?.code == .keyReused && error?.message.contains("globe") == false)
        #expect(try await count("orders", journal) == 1)
        #expect(try await place("lamp", key: "a", journal) == 1)
        let long = await #expect(throws: RelayError.self) {
            try await place("lamp", key: String(repeating: "k", count: 256), journal)
        }
        #expect(long?.code == .invalidArgument)
        #expect(try await place("lamp", key: String(repeating: "k", count: 255), journal) == 2)
    }
    @Test("repeats at the same time run the command once, and all get its reply") func concurrent() async throws {
        let journal = try await opened(TestFolder())
        let replies = await withTaskGroup(of: Int64.self) { group in
            for number in 0..<200 {
                group.addTask { (try? await place("lamp", key: "\(number % 5)", journal)) ?? -1 }
            }
            return await group.reduce(into: [Int64: Int]()) { $0[$1, default: 0] += 1 }
        }
        #expect(replies == [1: 40, 2: 40, 3: 40, 4: 40, 5: 40])
        #expect(try await count("orders", journal) == 5)
    }
    @Test("a refusal and an error are not kept: the next try runs the command") func refusal() async throws {
        let journal = try await opened(TestFolder())
        for _ in 1...2 {
            await #expect(throws: PlaceOrder.Refusal.soldOut) { try await place("sold out", key: "a", journal) }
        }
        #expect(try await count("relay_replies", journal) == 0)
        #expect(try await place("lamp", key: "a", journal) == 1)
    }
    @Test("a reply of an earlier version is read by the later one, or refused") func versions() async throws {
        let journal = try await opened(TestFolder())
        #expect(try await place("lamp", key: "a", journal) == 1)
        let later = try await journal.storage.answer(
            LaterShop1.PlaceOrder(item: "lamp", idempotencyKey: "a"), from: Self.context()
        ) { _ in
            Issue.record("ran again")
            return .init(orderID: 9, dueInDays: 3)
        }
        #expect(later == .init(orderID: 1, dueInDays: nil))
        let error = await #expect(throws: RelayError.self) {
            _ = try await journal.storage.answer(
                OtherShop1.PlaceOrder(item: "lamp", idempotencyKey: "a"), from: Self.context()
            ) { _ in .init(orderID: "x") }
        }
        #expect(error?.code == .schemaMismatch)
    }
    @Test("G6: a retry over an upgrade is a repetition: fields reordered, renamed, optional ones added, nested too")
    func overAnUpgrade() async throws {
        let journal = try await opened(TestFolder())
        let runs = Mutex(0)
        let part = FirstParts.Part(title: "lamp", count: 2)
        func first(_ parts: [FirstParts.Part]) async throws -> FirstParts.Reply {
            try await journal.storage.answer(
                FirstParts(title: "t", parts: parts, idempotencyKey: "a"), from: Self.context()
            ) {
                _ in
                runs.withLock { $0 += 1 }
                return FirstParts.Reply(parts: parts)
            }
        }
        func second(_ command: SecondParts) async throws -> SecondParts.Reply {
            try await journal.storage.answer(command, from: Self.context()) { _ in
                runs.withLock { $0 += 1 }
                return SecondParts.Reply(note: nil, parts: command.parts)
            }
        }
        _ = try await first([part])
        let later = SecondParts.Part(weight: nil, count: 2, label: "lamp")
        let command = SecondParts(note: nil, idempotencyKey: "a", parts: [later], label: "t")
        #expect(try await second(command) == SecondParts.Reply(note: nil, parts: [later]))
        #expect(try await first([part]) == FirstParts.Reply(parts: [part]))
        var (noted, heavy) = (command, command)
        noted.note = "x"
        heavy.parts[0].weight = 1
        for other in [noted, heavy] {
            let error = await #expect(throws: RelayError.self) { _ = try await second(other) }
            #expect(error?.code == .keyReused)
        }
        #expect(runs.withLock { $0 } == 1)
    }
    @Test("a reply that no message has room for undoes the unit") func tooLarge() async throws {
        struct Fill: IdempotentCommand {
            typealias Interface = Shop1
            let idempotencyKey: String?
            struct Reply: Codable, Sendable { let bytes: [UInt8] }
        }
        let journal = try await opened(TestFolder())
        let error = await #expect(throws: RelayError.self) {
            _ = try await journal.storage.answer(Fill(idempotencyKey: "a"), from: Self.context()) { unit in
                try unit.execute("INSERT INTO orders (item) VALUES ('x')")
                return Fill.Reply(bytes: [UInt8](repeating: 0, count: 2 << 20))
            }
        }
        #expect(error?.code == .tooLarge)
        #expect(try await count("orders", journal) == 0)
    }

    @Test("over a bus, by this library and by a tool that knows nothing of it") func overBus() async throws {
        let (bus, folder) = (try PrivateBus(), try TestFolder())
        let journal = try await opened(folder)
        let service = try EventService(name: "org.example.Shop", on: bus.bus, exporting: Shop1.self, journal: journal)
        service.handle(PlaceOrder.self) { order, context, unit in
            if order.item == "sold out" { throw PlaceOrder.Refusal.soldOut }
            #expect(context.peer.userID != nil)
            let insert = "INSERT INTO orders (item) VALUES (?) RETURNING id"
            let id: Int64 = try unit.query(SQL(insert, [SQLValue(order.item)])) { try $0[0] }[0]
            try unit.publish(OrderPlaced(orderID: id, item: order.item))
            return PlaceOrder.Reply(orderID: id)
        }
        service.handle(CancelOrder.self) { order, _, unit in
            try unit.execute(SQL("DELETE FROM orders WHERE id = ?", [SQLValue(order.orderID)]))
        }
        try await service.start()
        let relay = try EventRelay(following: "org.example.Shop", on: bus.bus, interfaces: Shop1.self)
        relay.activate()
        try await relay.ready()
        for _ in 1...3 {
            #expect(try await relay.call(PlaceOrder(item: "lamp", idempotencyKey: "a")).orderID == 1)
        }
        // An optional string is an array of none or one.
        for _ in 1...2 {
            let outcome = try await RunningProgram.run(
                "busctl",
                [
                    "--address=\(bus.address)", "call", "org.example.Shop", "/org/example/Shop1", Shop1.name,
                    "PlaceOrder",
                    "sas", "lamp", "1", "a",
                ])
            #expect(outcome.output == ["x 1"], "\(outcome)")
        }
        let other = try await RunningProgram.run(
            "busctl",
            [
                "--address=\(bus.address)", "call", "org.example.Shop", "/org/example/Shop1", Shop1.name, "PlaceOrder",
                "sas", "globe", "1", "a",
            ])
        #expect(other.code == 1 && !other.errors.isEmpty)
        let reused = await #expect(throws: (any Error).self) {
            _ = try await relay.call(PlaceOrder(item: "globe", idempotencyKey: "a"))
        }
        #expect("\(reused.map { "\($0)" } ?? "")".contains("KeyReused"))
        try await relay.call(CancelOrder(orderID: 1))
        #expect(try await count("orders", journal) == 0)
        // One event for all of these calls.
        #expect(try await journal.statistics(of: Shop1.self).events == 1)
        relay.invalidate()
        try await service.stop()
        journal.close()
    }
}

/// A command of a first release.
private struct FirstParts: IdempotentCommand {
    struct Part: Codable, Sendable, Equatable { var title: String, count: Int32 }
    typealias Interface = Shop1
    static let name = "PlaceParts"
    var title: String, parts: [Part]
    var idempotencyKey: String?
    struct Reply: Codable, Sendable, Equatable { var parts: [Part] }
}
/// And of the next one.
private struct SecondParts: IdempotentCommand, RenamedFields {
    struct Part: Codable, Sendable, Equatable, RenamedFields {
        static let formerNames = ["title": "label"]
        var weight: Double?
        var count: Int32, label: String
    }
    typealias Interface = Shop1
    static let name = "PlaceParts"
    static let formerNames = ["title": "label"]
    var note: String?
    var idempotencyKey: String?
    var parts: [Part], label: String
    struct Reply: Codable, Sendable, Equatable {
        var note: String?
        var parts: [Part]
    }
}
