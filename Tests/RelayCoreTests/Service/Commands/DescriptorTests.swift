import Glibc
import RelayTestKit
import Synchronization
import TestTraits
import Testing

@testable import RelayCore
import RelayWire

private enum Files1: EventInterface {
    static let name = "org.example.Files1"
    static let durability = Volatile()
    static var contract: Contract<Self> {
        WriteFiles.self
        KeepFiles.self
        HoldFile.self
        Forbidden.self
    }
}
/// Writes into each.
private struct WriteFiles: Command {
    typealias Interface = Files1
    struct Part: Codable, Sendable { var text: String, into: TransferredDescriptor }
    var parts: [Part]
    var last: TransferredDescriptor?
    struct Reply: Codable, Sendable { var count: Int64 }
}
/// Takes none of what it gets.
private struct KeepFiles: Command {
    typealias Interface = Files1
    var file: TransferredDescriptor, others: [TransferredDescriptor]
}
/// Stands until it is let go.
private struct HoldFile: Command {
    typealias Interface = Files1
    var file: TransferredDescriptor
}
private struct Forbidden: Command {
    typealias Interface = Files1
    var file: TransferredDescriptor
    static var requirement: PeerRequirement { .user("no such user") }
}
private enum Told1: EventInterface {
    static let name = "org.example.Told1"
    static let durability = Volatile()
    static var contract: Contract<Self> { Told.self }
}
private struct Told: DomainEvent {
    typealias Interface = Told1
    var text: String, log: TransferredDescriptor
}
private enum Gives1: EventInterface {
    static let name = "org.example.Gives1"
    static let durability = Volatile()
    static var contract: Contract<Self> { Give.self }
}
/// Its reply is kept for a repetition.
private struct Give: IdempotentCommand {
    typealias Interface = Gives1
    var idempotencyKey: String?
    struct Reply: Codable, Sendable { var log: TransferredDescriptor }
}
private enum Held1: EventInterface {
    static let name = "org.example.Held1"
    static let durability = Volatile()
    static var contract: Contract<Self> { Held.self }
}
private struct Held: DomainDocument {
    typealias Interface = Held1
    var log: TransferredDescriptor
    static var initial: Self { Self(log: .sample()) }
    static func == (a: Self, b: Self) -> Bool { a.log === b.log }
}

@Suite("File descriptors in commands", .heavy, .tags(.g4, .g8)) struct DescriptorTests {
    private static let name = "org.example.Files"
    private final class Site: Sendable {
        let service: EventService
        private let open = Atomic<Bool>(false)
        private let started = Atomic<Int>(0)
        var holding: Int { started.load(ordering: .relaxed) }
        func release() { open.store(true, ordering: .relaxed) }

        init(_ bus: Bus) async throws {
            service = try EventService(name: name, on: bus, exporting: Files1.self)
            service.handle(WriteFiles.self) { write, _ in
                var count: Int64 = 0
                func put(_ text: String, _ file: TransferredDescriptor) throws {
                    let file = try file.take()
                    count += Int64(text.withCString { Glibc.write(file.number, $0, strlen($0)) })
                }
                for part in write.parts { try put(part.text, part.into) }
                if let last = write.last { try put("end", last) }
                return WriteFiles.Reply(count: count)
            }
            service.handle(KeepFiles.self) { _, _ in }
            service.handle(Forbidden.self) { _, _ in }
            service.handle(HoldFile.self) { [self] _, _ in
                started.add(1, ordering: .relaxed)
                while !open.load(ordering: .relaxed) { try await Task.sleep(for: .milliseconds(1)) }
            }
            try await service.start()
        }
    }
    private func activeRelay(_ bus: Bus) throws -> EventRelay { try .active(Self.name, bus, Files1.self) }

    @Test("a handler writes into what its caller sends, wherever it is among the arguments") func travels() async throws
    {
        let bus = try PrivateBus()
        let site = try await Site(bus.bus)
        let relay = try activeRelay(bus.bus)
        let (pipe, writing) = try CountedPipe.make()
        let owned = OwnedDescriptor(writing)
        let parts = try (1...3).map {
            WriteFiles.Part(text: "\($0) ", into: try TransferredDescriptor(duplicating: writing))
        }
        let last = TransferredDescriptor(owned)
        #expect(pipe.writers == 4)
        let reply = try await relay.call(WriteFiles(parts: parts, last: last))
        #expect(reply.count == 9)
        #expect(await eventually { pipe.writers == 0 })
        #expect(pipe.text() == "1 2 3 end")
        // Sent is sent.
        #expect(await relayFailure { _ = try last.take() }?.code == .conflict)
        let again = await relayFailure { _ = try await relay.call(WriteFiles(parts: [], last: last)) }
        #expect(again?.mayHaveRun == false)
        let none = try await relay.call(WriteFiles(parts: [], last: nil))
        #expect(none.count == 0)
        try await site.service.stop()
    }
    @Test("each is closed once, whatever becomes of its call") func closed() async throws {
        let bus = try PrivateBus()
        let site = try await Site(bus.bus)
        let relay = try activeRelay(bus.bus)
        let (pipe, writing) = try CountedPipe.make()
        defer { close(writing) }
        func descriptor() throws -> TransferredDescriptor { try TransferredDescriptor(duplicating: writing) }
        // Never sent.
        do { _ = try descriptor() }
        #expect(pipe.writers == 1)
        // Not taken by the handler.
        let fifteen = try (1...15).map { _ in try descriptor() }
        try await relay.call(KeepFiles(file: try descriptor(), others: fifteen))
        #expect(await eventually { pipe.writers == 1 })
        // One too many.
        let tooMany = await relayFailure {
            let sixteen = try (1...16).map { _ in try descriptor() }
            try await relay.call(KeepFiles(file: try descriptor(), others: sixteen))
        }
        #expect(
            tooMany?.mayHaveRun == false && tooMany?.message.contains("16") == true, "\(String(describing: tooMany))")
        // Refused.
        let refused = await relayFailure { try await relay.call(Forbidden(file: try descriptor())) }
        #expect(refused?.code == .notPermitted)
        // In time, and while it waits behind another.
        let held = (1...3).map { _ in
            Task {
                await relayFailure {
                    try await relay.call(HoldFile(file: try descriptor()), timeout: .milliseconds(50))
                }
            }
        }
        for task in held { #expect(await task.value?.code == .timedOut) }
        // Past what a peer may hold.
        let codes = Log<RelayError.Code?>()
        let flood = (1...40).map { _ in
            Task {
                codes.add(
                    await relayFailure {
                        try await relay.call(HoldFile(file: try descriptor()), timeout: .seconds(300))
                    }?.code)
            }
        }
        // One is refused before any may end: an end makes room.
        #expect(await eventually { codes.values.contains(.limitsExceeded) })
        #expect(site.service.core.ledger.held(.callDescriptors) == PeerResource.callDescriptors.bounds.peer)
        site.release()
        for task in flood { await task.value }
        #expect(codes.values.allSatisfy { $0 == nil || $0 == .limitsExceeded })
        // Without the service, and without a bus.
        try await site.service.stop()
        #expect(
            await relayFailure { try await relay.call(KeepFiles(file: try descriptor(), others: [])) }?.code
                == .unavailable)
        relay.invalidate()
        #expect(
            await relayFailure { try await relay.call(KeepFiles(file: try descriptor(), others: [])) }?.code
                == .unavailable)
        #expect(await eventually { pipe.writers == 1 && site.service.core.ledger.held(.callDescriptors) == 0 })
    }
    @Test("one user's connections hold two thirds of what a service takes; the rest is refused, and has not run")
    func manyConnections() async throws {
        let bus = try PrivateBus()
        let site = try await Site(bus.bus)
        let (pipe, writing) = try CountedPipe.make()
        defer { close(writing) }
        let relays = try (1...7).map { _ in try activeRelay(bus.bus) }
        // From here on the service knows whose each one is: a call is counted for its user as it comes.
        for relay in relays { _ = try await relay.call(WriteFiles(parts: [], last: nil)) }
        let calls = try relays.flatMap { relay in
            try (1...PeerResource.callDescriptors.bounds.peer).map { _ in
                relay.start(HoldFile(file: try TransferredDescriptor(duplicating: writing)), timeout: .seconds(300))
            }
        }
        let most = PeerResource.callDescriptors.bounds.share
        let codes = Log<RelayError.Code?>()
        let answers = Task {
            await withTaskGroup(of: Void.self) { group in
                for call in calls {
                    group.addTask {
                        if case .failed(let error) = await call.outcome {
                            codes.add(error.code)
                        } else {
                            codes.add(nil)
                        }
                    }
                }
            }
        }
        // Each is held or refused before the first one ends: an end makes room.
        #expect(await eventually { codes.count == calls.count - most })
        #expect(codes.values.allSatisfy { $0 == .limitsExceeded })
        #expect(site.service.core.ledger.held(.callDescriptors) == most)
        site.release()
        await answers.value
        #expect(codes.values.count { $0 == nil } == most && codes.count == calls.count)
        withExtendedLifetime(relays) {}
        #expect(await eventually { pipe.writers == 1 && site.service.core.ledger.held(.callDescriptors) == 0 })
        try await site.service.stop()
    }
    @Test("a caller that vanishes with calls under way leaves no descriptor behind") func vanishing() async throws {
        let bus = try PrivateBus()
        let site = try await Site(bus.bus)
        let (pipe, writing) = try CountedPipe.make()
        defer { close(writing) }
        do {
            let relay = try activeRelay(bus.bus)
            let calls = try (1...5).map { _ in
                relay.start(HoldFile(file: try TransferredDescriptor(duplicating: writing)))
            }
            #expect(await eventually { site.holding == 1 && site.service.core.ledger.held(.callDescriptors) == 5 })
            // Sent is closed here: the test's own, and those that the service has.
            #expect(await eventually { pipe.writers == 6 })
            relay.invalidate()
            for call in calls { _ = await call.outcome }
        }
        // What waited is dropped; what runs has its own until it ends.
        #expect(await eventually { site.service.core.ledger.held(.callDescriptors) == 1 })
        site.release()
        #expect(await eventually { pipe.writers == 1 && site.service.core.ledger.held(.callDescriptors) == 0 })
        try await site.service.stop()
    }
    @Test("an index without a descriptor is refused, and a number in its place") func hostile() async throws {
        let bus = try PrivateBus()
        let site = try await Site(bus.bus)
        let peer = try await BusStranger.join(bus.bus)
        let path = Stream1.path(of: Files1.name)
        let none = await peer.refusal(Self.name, path, Files1.name, "HoldFile", [.unixFD(0)])
        #expect(none?.name == "org.eventrelay.Error.InvalidArgument", "\(String(describing: none))")
        let plain = await peer.refusal(Self.name, path, Files1.name, "HoldFile", [.uint32(0)])
        #expect(plain?.name == ErrorNames.invalidArgs, "\(String(describing: plain))")
        try await site.service.stop()
    }
    @Test("a connection that passes none says so, and the command has not run") func withoutDescriptors() async throws {
        let bus = try await TCPBus()
        let site = try await Site(bus.local)
        let relay = try activeRelay(bus.remote)
        let (pipe, writing) = try CountedPipe.make()
        defer { close(writing) }
        let failure = await relayFailure {
            try await relay.call(HoldFile(file: try TransferredDescriptor(duplicating: writing)))
        }
        #expect(failure?.code == .unavailable && failure?.mayHaveRun == false)
        #expect(failure?.message.contains("cannot pass file descriptors") == true, "\(failure?.message ?? "")")
        #expect(await eventually { pipe.writers == 1 })
        try await site.service.stop()
    }
    @Test("events, documents and kept replies with one are refused at registration, with type, field and reason")
    func refusals() {
        func text(_ make: () throws -> EventService) -> String? {
            do {
                _ = try make()
                return nil
            } catch { return (error as? RelayError)?.message }
        }
        let told = text { try EventService(name: "org.example.Told", exporting: Told1.self) }
        #expect(told?.contains("Told, field 'log': a file descriptor cannot travel here") == true, "\(told ?? "")")
        let gives = text { try EventService(name: "org.example.Gives", exporting: Gives1.self) }
        #expect(gives?.contains("Reply, field 'log': a file descriptor cannot travel here") == true, "\(gives ?? "")")
        let held = text { try EventService(name: "org.example.Held", exporting: Held1.self) }
        #expect(held?.contains("Held, field 'log': a file descriptor cannot travel here") == true, "\(held ?? "")")
    }
}
