import RelayCore
import RelayTool
import Synchronization
import RelayWire

/// Asks a service for pages, one after the other: a service has one on its way to each peer.
final class JournalReader: Sendable {
    /// How often a service that has no room is asked again: fewer times than it bears. And one that was restarted.
    private static let mostAttempts = 40

    private let caller: any ServiceCaller
    /// For messages.
    let service: String
    private let timeout: Duration
    private let last = Mutex<Task<Void, Never>?>(nil)

    init(caller: any ServiceCaller, service: String, timeout: Duration) {
        (self.caller, self.service, self.timeout) = (caller, service, timeout)
    }

    /// Begins to read at once, or when what was begun before is there. `limit` 0: as many as a page holds.
    ///
    /// The task throws `ServiceAbsent` or `CLIFailure`.
    func begin(_ interface: String, names: Set<String>?, after: UInt64, limit: UInt32 = 0) -> Task<
        StoredPage, any Error
    > {
        last.withLock { last in
            let before = last
            let task = Task {
                await before?.value
                return try await read(interface, names?.sorted() ?? [Stream1.allNames], after, limit)
            }
            last = Task { _ = await task.result }
            return task
        }
    }

    private func read(_ interface: String, _ names: [String], _ after: UInt64, _ limit: UInt32) async throws
        -> StoredPage
    {
        let deadline = ContinuousClock.now + timeout
        var pause = Duration.milliseconds(50)
        for attempt in 1... {
            let read = StreamRead(names: names, after: after, limit: limit)
            do {
                let reply = try await call("Read", of: interface, Stream1.readSignature) { writer in
                    try Stream1.write(read, into: &writer)
                }
                return try StoredPage(reply, of: interface)
            } catch let busy as ServiceBusy {
                guard attempt < Self.mostAttempts, ContinuousClock.now + pause < deadline else { throw busy.failure }
                try await Task.sleep(for: pause)
                pause = min(pause * 2, .seconds(1))
            }
        }
        throw CLIFailure(.software, "no attempt")  // The loop has no other end.
    }

    /// The fields of every event that a page may have, by its schema's number. Throws `ServiceAbsent` or `CLIFailure`.
    func schemas(of interface: String) async throws -> [UInt32: EventSchema] {
        try await ask("Schemas", of: interface, Stream1.schemasSignature) { try Stream1.readSchemas(&$0) }
    }

    /// Whether the interface keeps its events.
    func isDurable(_ interface: String) async throws -> Bool {
        try await property("Durability", of: interface, "s") { reader in try reader.string() == "durable" }
    }
    /// Where the interface stands: its run, and the sequence of its last event.
    ///
    /// Throws `ServiceAbsent` or `CLIFailure`: `.software` for a service that is of another run each time.
    func position(of interface: String) async throws -> (epoch: UInt64, sequence: UInt64) {
        var epoch = try await number("Epoch", of: interface)
        for _ in 0..<Self.mostAttempts {
            let sequence = try await number("Sequence", of: interface)
            let present = try await number("Epoch", of: interface)
            // Else the service was restarted between the answers.
            if present == epoch { return (epoch, sequence) }
            epoch = present
        }
        throw CLIFailure(
            .software,
            "\(interface) of '\(service)' reports another run whenever it is asked: \(Self.mostAttempts) times")
    }
    private func number(_ name: String, of interface: String) async throws -> UInt64 {
        try await property(name, of: interface, "t") { reader in try reader.uint64() }
    }
    private func property<Value>(
        _ name: String, of interface: String, _ signature: String, _ read: (inout WireReader) throws -> Value
    ) async throws -> Value {
        let call = OutgoingCall(
            path: Stream1.path(of: interface), interface: "org.freedesktop.DBus.Properties", member: "Get",
            signature: "ss",
            body: try body { writer in
                try writer.string(Stream1.name)
                try writer.string(name)
            })
        let reply = try await caller.call(call, timeout: timeout)
        return try Self.value(of: reply, to: "Get", of: interface, "v") { reader in
            let start = reader.position
            guard try reader.signature().text == signature else {
                throw RelayError(.schemaMismatch, "\(name) is no '\(signature)' at \(start)")
            }
            return try read(&reader)
        }
    }

    /// Calls a method of `Stream1` that takes nothing, and reads what it answers.
    func ask<Value>(
        _ member: String, of interface: String, _ signature: String, _ read: (inout WireReader) throws -> Value
    ) async throws -> Value {
        let reply = try await call(member, of: interface, "") { _ in }
        return try Self.value(of: reply, to: member, of: interface, signature, read)
    }
    private func call(
        _ member: String, of interface: String, _ signature: String, _ write: (inout WireWriter) throws -> Void
    ) async throws -> IncomingReply {
        try await caller.call(
            OutgoingCall(
                path: Stream1.path(of: interface), interface: Stream1.name, member: member, signature: signature,
                body: try body(write)), timeout: timeout)
    }
    private func body(_ write: (inout WireWriter) throws -> Void) throws -> [UInt8] {
        var writer = WireWriter()
        do { try write(&writer) } catch {
            throw CLIFailure(.badValue, (error as? RelayError)?.message ?? "\(error)")
        }
        return writer.bytes
    }
    private static func value<Value>(
        of reply: IncomingReply, to member: String, of interface: String, _ signature: String,
        _ read: (inout WireReader) throws -> Value
    ) throws -> Value {
        guard reply.signature == signature else {
            throw CLIFailure(
                .software, "\(interface) answers \(member) with '\(reply.signature)', not with '\(signature)'")
        }
        do {
            return try reply.body.withUnsafeBytes { bytes in
                var reader = WireReader(bytes)
                return try read(&reader)
            }
        } catch {
            let reason = (error as? RelayError)?.message ?? "\(error)"
            throw CLIFailure(.software, "\(interface) answers \(member) with what cannot be read: \(reason)")
        }
    }
}
