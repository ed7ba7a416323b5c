import RelayTestKit
import Synchronization
import Testing

@testable import RelayCore

enum Desk1: EventInterface {
    static let name = "org.example.Desk1"
    static let durability = Volatile()
    static var contract: Contract<Self> {
        Noted.self
        Torn.self
        Echo.self
        Wait.self
        Fail.self
        Fill.self
        Restricted.self
    }
}
struct Noted: DomainEvent, Equatable {
    typealias Interface = Desk1
    var text: String, number: Int64
}
struct Torn: DomainEvent, Equatable {
    typealias Interface = Desk1
    var number: Int64
}
struct Echo: Command {
    typealias Interface = Desk1
    var text: String
    struct Reply: Codable, Sendable { var text: String }
}
/// Is answered when the test says so.
struct Wait: Command {
    typealias Interface = Desk1
    var number: Int64
}
struct Fail: Command {
    typealias Interface = Desk1
    var how: String
    struct Refusal: CommandRefusal {
        let errorName: String
        let message: String
        init(errorName: String, message: String) { (self.errorName, self.message) = (errorName, message) }
    }
}
/// Replies with so many bytes, or with a text that no bus carries.
struct Fill: Command {
    typealias Interface = Desk1
    var count: Int32
    struct Reply: Codable, Sendable {
        var bytes: [UInt8]
        var text: String
    }
}
struct Restricted: Command {
    typealias Interface = Desk1
    static var requirement: PeerRequirement { .user("no such user") }
}

/// A service at work on a bus of its own.
final class Desk: Sendable {
    static let name = "org.example.Desk"
    static let path = "/org/example/Desk1"
    let bus: PrivateBus
    let service: EventService
    let notices = NoticeRecorder()
    private let running: Task<Void, any Error>
    private let log = Mutex<[String]>([])
    private let gates = Mutex<[Int64: CheckedContinuation<Void, Never>]>([:])

    init(_ bus: PrivateBus? = nil) async throws {
        let bus = try bus ?? PrivateBus()
        let service = try EventService(
            name: Self.name, on: bus.bus, exporting: Desk1.self, onNotice: notices.record)
        (self.bus, self.service) = (bus, service)
        let (ready, isReady) = AsyncStream.makeStream(of: Void.self)
        let start = Mutex<CheckedContinuation<Void, Never>?>(nil)
        running = Task {
            await withCheckedContinuation { continuation in start.withLock { $0 = continuation } }
            defer { isReady.finish() }
            try await service.run { isReady.finish() }
        }
        service.handle(Echo.self) { [weak self] command, _ in
            self?.note("echo \(command.text)")
            return Echo.Reply(text: command.text)
        }
        service.handle(Wait.self) { [weak self] command, _ in
            self?.note("wait \(command.number)")
            await self?.stand(command.number)
            self?.note("done \(command.number)")
        }
        service.handle(Fail.self) { command, _ in
            switch command.how {
            case "declared": throw Fail.Refusal(errorName: "Declared", message: "as agreed")
            case "bad name": throw Fail.Refusal(errorName: "no name", message: "")
            case "bad text": throw Fail.Refusal(errorName: "Declared", message: "a\0b")
            case "long text":
                throw Fail.Refusal(errorName: "Declared", message: String(repeating: "x", count: 2 << 20))
            case "relay": throw RelayError(.conflict, "a secret path")
            case "cancelled": throw CancellationError()
            default: throw SystemError(5)
            }
        }
        service.handle(Fill.self) { command, _ in
            if command.count < 0 { return Fill.Reply(bytes: [], text: "a\0b") }
            return Fill.Reply(bytes: [UInt8](repeating: 7, count: Int(command.count)), text: "")
        }
        service.handle(Restricted.self) { _, _ in }
        #expect(await eventually { start.withLock { $0 != nil } })
        start.withLock { $0 }?.resume()
        for await _ in ready {}
    }
    var notes: [String] { log.withLock { $0 } }
    private func note(_ text: String) { log.withLock { $0.append(text) } }
    private func stand(_ number: Int64) async {
        await withCheckedContinuation { continuation in gates.withLock { $0[number] = continuation } }
    }
    /// Lets a `Wait` end, once it stands there.
    func open(_ number: Int64) async {
        #expect(await eventually { gates.withLock { $0[number] != nil } })
        gates.withLock { $0.removeValue(forKey: number) }?.resume()
    }
    func cancel() { running.cancel() }
    /// Waits for the end of `run()`.
    func end() async throws { try await running.value }
    func stop() async throws {
        cancel()
        try await end()
    }
}
