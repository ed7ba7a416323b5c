import RelayTestKit
import Synchronization
import Testing

@testable import RelayCore
import RelayWire

enum Works1: EventInterface {
    static let name = "org.example.Works1"
    static let durability = Volatile()
    static var contract: Contract<Self> {
        Work.self
        Labour.self
        Greet.self
    }
}
/// Reports its steps, then stands until it is let go or cancelled.
struct Work: Command {
    typealias Interface = Works1
    var number: Int64, steps: Int32
    static let isCancellable = true
    struct Progress: Codable, Equatable, Sendable {
        var step: Int32, note: String
    }
    struct Reply: Codable, Equatable, Sendable { var steps: Int32 }
}
/// The same, but it runs to its end.
struct Labour: Command {
    typealias Interface = Works1
    var number: Int64
}
struct Greet: Command {
    typealias Interface = Works1
    var number: Int64
}

/// A service with long commands.
final class Workshop: Sendable {
    static let name = "org.example.Workshop"
    static let path = Stream1.path(of: Works1.name)
    let service: EventService
    private let log = Mutex<[String]>([])
    private let open = Mutex<Set<Int64>>([])

    init(_ bus: Bus) throws {
        service = try EventService(name: Self.name, on: bus, exporting: Works1.self)
        service.handle(Work.self) { [self] work, context in
            note("work \(work.number)")
            for step in 0..<work.steps {
                context.report(.init(step: step + 1, note: String(repeating: "x", count: 100)), of: work)
            }
            do { try await stand(work.number) } catch {
                note("cancelled \(work.number)")
                throw error
            }
            note("done \(work.number)")
            return Work.Reply(steps: work.steps)
        }
        service.handle(Labour.self) { [self] labour, _ in
            note("labour \(labour.number)")
            try? await stand(labour.number)
            note("done \(labour.number)")
        }
        service.handle(Greet.self) { [self] greet, context in note("\(context.peer.uniqueName) \(greet.number)") }
    }
    /// A call by a peer that is none of ours.
    static func call(_ member: String, _ values: [DBusValue]) throws -> MethodCall {
        var body = WireWriter()
        try DBusValue.encode(values, into: &body)
        return MethodCall(
            to: name, path: path, interface: Works1.name, member: member,
            signature: try DBusValue.signature(of: values), body: body.bytes)
    }
    var notes: [String] { log.withLock { $0 } }
    func note(_ text: String) { log.withLock { $0.append(text) } }
    func wait(for note: String) async -> Bool { await eventually { self.notes.contains(note) } }
    /// Lets the commands of a number end.
    func release(_ number: Int64) { _ = open.withLock { $0.insert(number) } }
    private func stand(_ number: Int64) async throws {
        while !open.withLock({ $0.contains(number) }) {
            if Task.isCancelled { throw CancellationError() }
            // A look now and then: what is waited for is a condition.
            try? await Task.sleep(for: .milliseconds(1))
        }
    }
    /// Nothing of any call is left.
    var isEmpty: Bool {
        let core = service.core
        return core.queues.count == 0 && core.calls.running.count == 0
    }
    /// The peers that something is kept of.
    var peers: Int { service.core.ledger.present.count }
}
