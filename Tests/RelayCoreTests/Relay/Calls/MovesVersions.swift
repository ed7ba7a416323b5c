import RelayTestKit
import Synchronization
import Testing

@testable import RelayCore

/// A contract as front ends of the first release have it.
enum FirstMoves {
    enum Moves1: EventInterface {
        static let name = "org.example.Moves1"
        static let durability = Volatile()
        static var contract: Contract<Self> {
            Move.self
            Pack.self
            Send.self
            Count.self
            Shelf.self
        }
    }
    struct Move: Command {
        typealias Interface = Moves1
        var from: Int64, to: Int64
        struct Reply: Codable, Sendable, Equatable { var moved: Int64 }
        struct Progress: Codable, Sendable, Equatable { var done: Int32, of: Int32 }
    }
    struct Box: Codable, Sendable, Equatable { var title: String, size: Int32 }
    struct Pack: Command {
        typealias Interface = Moves1
        var boxes: [Box], byName: [String: Box]
        struct Reply: Codable, Sendable, Equatable { var boxes: [Box] }
    }
    struct Send: Command {
        typealias Interface = Moves1
        var text: String, into: TransferredDescriptor
    }
    struct Count: Command {
        typealias Interface = Moves1
        var upTo: Int64
        struct Reply: Codable, Sendable, Equatable { var count: Int64 }
    }
    struct Shelf: EditableDocument, Equatable {
        typealias Interface = Moves1
        var title: String, boxes: [Box]
        static let initial = Self(title: "", boxes: [])
    }
}

/// The same contract one release later: fields in another order, some renamed, some added.
enum SecondMoves {
    enum Moves1: EventInterface {
        static let name = "org.example.Moves1"
        static let durability = Volatile()
        static var contract: Contract<Self> {
            Count.self
            Pack.self
            Send.self
            Move.self
            Shelf.self
        }
    }
    struct Move: Command, RenamedFields {
        typealias Interface = Moves1
        static let formerNames = ["to": "target"]
        var target: Int64
        var speed: Double?
        var from: Int64
        struct Reply: Codable, Sendable, Equatable {
            var note: String?
            var moved: Int64
        }
        struct Progress: Codable, Sendable, Equatable {
            var of: Int32
            var label: String?
            var done: Int32
        }
    }
    struct Box: Codable, Sendable, Equatable, RenamedFields {
        static let formerNames = ["title": "label"]
        var weight: Double?
        var size: Int32, label: String
    }
    struct Pack: Command {
        typealias Interface = Moves1
        var byName: [String: Box], boxes: [Box]
        struct Reply: Codable, Sendable, Equatable {
            var count: Int32?
            var boxes: [Box]
        }
    }
    struct Send: Command {
        typealias Interface = Moves1
        var into: TransferredDescriptor
        var isUrgent: Bool?
        var text: String
    }
    /// Needs more than the first release sends, and replies with less than it reads.
    struct Count: Command {
        typealias Interface = Moves1
        var upTo: Int64, step: Int64
        struct Reply: Codable, Sendable, Equatable { var total: Int64 }
    }
    struct Shelf: EditableDocument, Equatable {
        typealias Interface = Moves1
        var owner: String, boxes: [Box]
        var note: String?
        var title: String
        static let initial = Self(owner: "nobody", boxes: [], note: nil, title: "")
    }
}

/// A service of either release, which notes what it is asked.
final class MovesService: Sendable {
    static let name = "org.example.Moves"
    let service: EventService
    private let log = Mutex<[String]>([])
    private let running = Mutex<Task<Void, any Error>?>(nil)
    var notes: [String] { log.withLock { $0 } }
    private func note(_ text: String) { log.withLock { $0.append(text) } }

    private init(_ service: EventService) { self.service = service }

    static func first(_ bus: Bus) async throws -> MovesService {
        let one = MovesService(try EventService(name: name, on: bus, exporting: FirstMoves.Moves1.self))
        one.service.handle(FirstMoves.Move.self) { [weak one] move, context in
            one?.note("\(move.from)>\(move.to)")
            context.report(FirstMoves.Move.Progress(done: 1, of: 3), of: move)
            return FirstMoves.Move.Reply(moved: 1)
        }
        one.service.handle(FirstMoves.Pack.self) { pack, _ in FirstMoves.Pack.Reply(boxes: pack.boxes) }
        one.service.handle(FirstMoves.Send.self) { [weak one] send, _ in one?.note("send \(send.text)") }
        one.service.handle(FirstMoves.Count.self) { [weak one] _, _ in
            one?.note("count")
            return FirstMoves.Count.Reply(count: 0)
        }
        try await one.start()
        return one
    }
    static func second(_ bus: Bus) async throws -> MovesService {
        let one = MovesService(try EventService(name: name, on: bus, exporting: SecondMoves.Moves1.self))
        one.service.handle(SecondMoves.Move.self) { [weak one] move, context in
            one?.note("\(move.from)>>\(move.target)\(move.speed.map { " at \($0)" } ?? "")")
            context.report(SecondMoves.Move.Progress(of: 5, label: "a", done: 2), of: move)
            return SecondMoves.Move.Reply(note: "well", moved: 2)
        }
        one.service.handle(SecondMoves.Pack.self) { pack, _ in
            SecondMoves.Pack.Reply(count: Int32(pack.byName.count), boxes: pack.boxes)
        }
        one.service.handle(SecondMoves.Send.self) { [weak one] send, _ in one?.note("send \(send.text)!") }
        one.service.handle(SecondMoves.Count.self) { [weak one] _, _ in
            one?.note("count")
            return SecondMoves.Count.Reply(total: 0)
        }
        try await one.start()
        return one
    }
    private func start() async throws {
        let (ready, isReady) = AsyncStream.makeStream(of: Void.self)
        let service = service
        running.withLock { running in
            running = Task {
                defer { isReady.finish() }
                try await service.run { isReady.finish() }
            }
        }
        for await _ in ready {}
    }
    func stop() async throws {
        let task = running.withLock { $0 }
        task?.cancel()
        try await task?.value
    }
}
