import Glibc
import RelayCore
import RelayInspection
import RelayJournal
import RelayTestKit

@testable import RelayMirrors

enum Press1: EventInterface {
    static let name = "org.example.Press1"
    static let durability = Durable(retention: Retention())
    static var contract: Contract<Self> {
        Printed.self
        Jammed.self
        Queue.self
    }
    struct Printed: DomainEvent {
        typealias Interface = Press1
        let number: Int64
        let text: String
    }
    struct Jammed: DomainEvent {
        typealias Interface = Press1
        let tray: Int32
    }
    struct Queue: DomainDocument {
        typealias Interface = Press1
        var titles: [String]
        static let initial = Self(titles: [])
    }
}
/// Keeps little.
enum Brief1: EventInterface {
    static let name = "org.example.Brief1"
    static let durability = Durable(retention: Retention(count: 10))
    static var contract: Contract<Self> { Noted.self }
    struct Noted: DomainEvent {
        typealias Interface = Brief1
        let number: Int64
    }
}
/// Its events come by signals.
enum Plain1: EventInterface {
    static let name = "org.example.Plain1"
    static let durability = Durable(retention: Retention())
    static let ringCapacity = 0
    static var contract: Contract<Self> { Noted.self }
    struct Noted: DomainEvent {
        typealias Interface = Plain1
        let number: Int64
    }
}
enum Lamp1: EventInterface {
    static let name = "org.example.Lamp1"
    static let durability = Volatile()
    static var contract: Contract<Self> { Lit.self }
    struct Lit: DomainEvent {
        typealias Interface = Lamp1
        let isOn: Bool
    }
}

/// A service with a journal, on a bus of its own, that is restarted and put back as a test likes.
actor ExportedPress {
    static let service = "org.example.Press"
    nonisolated let bus: PrivateBus
    private let folder: TestFolder
    private var running: (service: EventService, journal: EventJournal)?
    private var number: Int64 = 0
    private let interfaces: [any EventInterface.Type]

    init(_ interfaces: [any EventInterface.Type] = [Press1.self]) throws {
        bus = try PrivateBus()
        folder = try TestFolder(isInMemory: true)
        self.interfaces = interfaces
    }
    private nonisolated var directory: String { folder.path + "/journal" }

    func start() async throws {
        let journal = try EventJournal(directory: directory)
        let service = try EventService(
            name: Self.service, on: bus.bus, exporting: interfaces, journal: journal)
        try await service.start()
        running = (service, journal)
    }
    func stop() async throws {
        guard let (service, journal) = running else { return }
        running = nil
        try await service.stop()
        journal.close()
    }
    func restart() async throws {
        try await stop()
        try await start()
    }
    /// While it is stopped: the journal as it is, under a name.
    func backUp(_ name: String) { copy(directory, "\(folder.path)/\(name)") }
    func restore(_ name: String) { copy("\(folder.path)/\(name)", directory) }
    func removeJournal() { _ = files(directory).map { unlink("\(directory)/\($0)") } }
    private func files(_ path: String) -> [String] { folder.names(in: String(path.dropFirst(folder.path.count + 1))) }
    private func copy(_ from: String, _ to: String) {
        mkdir(to, 0o700)
        for name in files(to) { unlink("\(to)/\(name)") }
        for name in files(from) {
            let source = open("\(from)/\(name)", O_RDONLY)
            let target = open("\(to)/\(name)", O_WRONLY | O_CREAT | O_TRUNC, 0o600)
            if let bytes = try? OpenFile.read(source, atMost: 1 << 30) { _ = write(target, bytes, bytes.count) }
            close(source)
            close(target)
        }
    }

    // MARK: Events

    private func journal() throws -> EventJournal {
        guard let running else { throw RelayError(.unavailable, "the press is stopped") }
        return running.journal
    }
    func print(_ count: Int, size: Int = 8) async throws {
        let first = number + 1
        number += Int64(count)
        try await journal().unitOfWork { unit in
            for number in first..<first + Int64(count) {
                if number % 5 == 3 {
                    try unit.publish(Press1.Jammed(tray: Int32(truncatingIfNeeded: number)))
                } else {
                    try unit.publish(Press1.Printed(number: number, text: String(repeating: "x", count: size)))
                }
                if number % 10 == 7 { try unit.set(Press1.Queue(titles: ["\(number)"])) }
            }
        }
    }
    func note(_ count: Int) async throws {
        let first = number + 1
        number += Int64(count)
        for number in first..<first + Int64(count) {
            try await journal().unitOfWork { unit in try unit.publish(Brief1.Noted(number: number)) }
        }
    }
    func notePlainly() async throws {
        number += 1
        let note = Plain1.Noted(number: number)
        try await journal().unitOfWork { unit in try unit.publish(note) }
    }
    /// What brings events to subscribers of an interface: how many it serves, and how far the last of them is behind; nil:
    /// none says.
    func transports(of interface: String) -> [String: (subscribers: Int, lag: UInt64?)] {
        let stream = running?.service.metrics.streams.first { $0.interface == interface }
        return Dictionary(uniqueKeysWithValues: (stream?.transports ?? []).map { ($0.name, ($0.subscribers, $0.lag)) })
    }
    /// What the journal has of an interface, read past everything that an exporter uses.
    func history(of interface: String) async throws -> ExportedHistory {
        var history = ExportedHistory()
        let storage = try journal().access.storage
        var after: UInt64 = 0
        while true {
            let request = LogRequest(
                interface: interface, names: nil, after: after, limit: .max, byteLimit: 256 << 10)
            let page: LogPage = try await withCheckedThrowingContinuation { continuation in
                storage.read(request) { continuation.resume(with: $0) }
            }
            (history.oldest, history.head) = (page.oldest, page.head)
            for event in page.events {
                history.events[event.sequence] = ChannelAccount.Event(
                    epoch: page.epoch, name: event.name, body: event.body)
            }
            if page.through >= page.head { return history }
            after = page.through
        }
    }
}
struct ExportedHistory {
    var oldest: UInt64 = 1
    var head: UInt64 = 0
    var events: [UInt64: ChannelAccount.Event] = [:]
}
