import Glibc
import RelayTestKit
import Synchronization
import TestTraits
import Testing

@testable import RelayCore
import RelayWire

/// Each version of the protocol that was ever used, replayed: its relay with the present service, its service with the present relay.
///
/// A new version adds its recording, and leaves the old ones as they are.
@Suite("Compatibility: recorded exchanges", .heavy, .tags(.g6, .g8)) struct RecordedExchangeTests {
    static let versions = [recordingOfVersion1]
    private static let cases = versions.indices.flatMap { version in
        Recording.Growth.allCases.map { (version, $0) }
    }
    private static func recording(_ version: Int, _ growth: Recording.Growth) throws -> Recording {
        try Recording(parsing: versions[version]).grown(growth)
    }

    // MARK: An old relay

    /// What the present service answers, compared without what differs from run to run: epochs, times.
    private func comparable(_ message: Recording.Message, _ member: String) throws -> [DBusValue] {
        var values = try message.values()
        switch member {
        case "Attach": (values[0], values[5]) = (.uint64(0), .uint64(0))
        case "Read":
            values[0] = .uint64(0)
            guard case .array(let type, let events) = values[1] else { break }
            values[1] = .array(
                type,
                events.map { event in
                    guard case .structure(var parts) = event, case .variant(.structure(let fields)) = parts[2] else {
                        return event
                    }
                    parts[2] = .structure(fields.dropLast())
                    return .structure(parts)
                })
        default: break
        }
        return values
    }
    private func answer(_ call: Recording.Call, _ peer: BusConnection) async throws -> Recording.Answer {
        do {
            let request = MethodCall(
                to: DurableDesk.name, path: DurableDesk.path, interface: call.interface, member: call.member,
                signature: try Signature(call.message.signature), body: call.message.body)
            let reply = try await peer.call(request)
            return .reply(Recording.Message(signature: reply.signature, body: reply.body))
        } catch {
            let error = try #require((error as? RelayError)?.cause as? RemoteError, "\(call.member): \(error)")
            var body = WireWriter()
            try body.string(error.message)
            return .error(name: error.name, Recording.Message(signature: "s", body: body.bytes))
        }
    }
    @Test("a recorded relay gets from the present service what it knows how to read", arguments: cases)
    func oldRelay(version: Int, growth: Recording.Growth) async throws {
        let recording = try Self.recording(version, growth)
        let (desk, handler, loop) = (try await Self.desk(), RecordingHandler(), try BusLoop(name: "recorded"))
        let peer = try await BusConnection.connect(to: desk.bus.bus, on: loop, handler: handler)
        for call in recording.calls {
            switch (call.answer, try await answer(call, peer)) {
            case (.reply(let old), .reply(let new)):
                #expect(old.signature == new.signature, "\(call.member)")
                #expect(try comparable(old, call.member) == comparable(new, call.member), "\(call.member)")
            case (.error(let old, let text), .error(let new, let newText)):
                #expect(old == new && text.signature == newText.signature, "\(call.member)")
            case (_, let new): Issue.record("\(call.member) is answered with \(new)")
            }
        }
        let core = desk.service.core
        let features = await withCheckedContinuation { continuation in
            core.loop.execute { continuation.resume(returning: core.attachments.features.onLoop[peer.uniqueName]) }
        }
        #expect(features == growth.features)
        peer.close()
        loop.stop()
        try await desk.stop()
    }
    @Test("the present service's signals are those that a recorded relay knows", arguments: versions.indices)
    func signals(version: Int) async throws {
        let (old, new) = (try Recording(parsing: Self.versions[version]), try await Self.record())
        for signal in old.signals {
            let present = try new.signal(signal.member)
            #expect(present.interface == signal.interface && present.message.signature == signal.message.signature)
            let isEvent = signal.interface == Ledger1.name
            let (a, b) = (try signal.message.values(), try present.message.values())
            // All but an event's time, or a word's epoch.
            #expect(isEvent ? a.dropLast() == b.dropLast() : a.dropFirst() == b.dropFirst(), "\(signal.member)")
        }
    }

    // MARK: An old service

    @Test("the present relay follows a recorded service: replay, events, commands and their errors", arguments: cases)
    func oldService(version: Int, growth: Recording.Growth) async throws {
        let bus = try PrivateBus()
        let service = try await RecordedService.start(Self.recording(version, growth), DurableDesk.name, on: bus.bus)
        let relay = try EventRelay(following: DurableDesk.name, on: bus.bus, interfaces: Ledger1.self)
        let (replayed, live) = (Log<String>(), Log<String>())
        let subscriptions = [
            relay.publisher.subscribe(to: Booked.self, delivery: .immediate) {
                live.add("\($0.number)")
            } onGap: {
                live.add("\($0)")
            },
            relay.publisher.subscribe(to: EventRelay.State.self, delivery: .immediate) {
                if case .active = $0 { live.add("active") }
            } onGap: { _ in
            },
            try relay.subscribe(to: Booked.self, from: .beginning) {
                replayed.add("\($0.number) \($0.text)")
            } onGap: {
                replayed.add("\($0)")
            },
        ]
        relay.activate()
        #expect(await eventually { live.values.contains("active") && replayed.values == ["1 one"] })
        let core = relay.follower.core
        let features = await withCheckedContinuation { continuation in
            core.loop.execute { continuation.resume(returning: core.owner.features) }
        }
        #expect(features == growth.features)
        try await relay.call(Book(number: 3))
        #expect(live.values == ["active", "3"])
        #expect(await eventually { replayed.values == ["1 one", "3 "] })
        let error = await #expect(throws: (any Error).self) { try await relay.call(Broken(code: "Conflict")) }
        #expect("\(error as Any)".contains("could not run Broken"))
        try service.send("Head")
        try service.send("End")
        service.vanish()
        #expect(await eventually { (try? await Self.hasOwner(bus)) == false })
        #expect(live.values.filter { $0 != "active" } == ["3"] && replayed.values == ["1 one", "3 "])
        withExtendedLifetime(subscriptions) {}
    }
    private static func hasOwner(_ bus: PrivateBus) async throws -> Bool {
        try await BusStranger.join(bus.bus).hasOwner(DurableDesk.name)
    }

    // MARK: Recording

    /// The service as it was when a version was recorded: two events, one of each name.
    private static func desk() async throws -> DurableDesk {
        let desk = try await DurableDesk()
        try await desk.service.publish(Booked(number: 1, text: "one"))
        try await desk.service.publish(Struck(number: 2))
        return desk
    }
    /// What the present version says.
    static func record() async throws -> Recording {
        let bus = try PrivateBus()
        let (handler, loop) = (RecordingHandler(), try BusLoop(name: "recorder"))
        let peer = try await BusConnection.connect(to: bus.bus, on: loop, handler: handler)
        for interface in [Ledger1.name, Stream1.name] {
            var body = WireWriter()
            try body.string("type='signal',path='\(DurableDesk.path)',interface='\(interface)'")
            _ = try await peer.call(.toBus("AddMatch", Signature("s"), body: body.bytes))
        }
        let desk = try await DurableDesk(bus)
        try await desk.service.publish(Booked(number: 1, text: "one"))
        try await desk.service.publish(Struck(number: 2))
        var recording = Recording()
        func call(
            _ interface: String, _ member: String, _ signature: String = "",
            _ write: (inout WireWriter) throws -> Void = { _ in }
        ) async throws {
            var body = WireWriter()
            try write(&body)
            let none = Recording.Answer.reply(Recording.Message(signature: "", body: []))
            var call = Recording.Call(
                interface: interface, member: member,
                message: Recording.Message(signature: signature, body: body.bytes), answer: none)
            call.answer = try await RecordedExchangeTests().answer(call, peer)
            recording.calls.append(call)
        }
        try await call(Stream1.name, "Schemas")
        try await call(Stream1.name, "Contract")
        try await call(Stream1.name, "OpenRing")
        try await call(Stream1.name, "Attach", Stream1.attachSignature) {
            try Stream1.write(AttachRequest(names: [Stream1.allNames]), into: &$0)
        }
        try await call(Stream1.name, "Attach", Stream1.attachSignature) {
            let runs = [StreamRun(epoch: 76, first: 1), StreamRun(epoch: 77, first: 2)]
            let request = AttachRequest(epoch: 77, after: 2, names: ["Booked"], options: AttachOptions(runs: runs))
            try Stream1.write(request, into: &$0)
        }
        try await call(Stream1.name, "Read", Stream1.readSignature) {
            try Stream1.write(StreamRead(names: [Stream1.allNames], after: 0, limit: 0), into: &$0)
        }
        try await call(Ledger1.name, "Book", "x") { $0.int64(3) }
        try await call(Ledger1.name, "Broken", "s") { try $0.string("Conflict") }
        // The one that follows the events: sequence 3.
        let head: [UInt8] = [3, 0, 0, 0, 0, 0, 0, 0]
        #expect(
            await eventually { handler.signals.contains { $0.member == "Head" && $0.body[8..<16].elementsEqual(head) } }
        )
        try await desk.stop()
        #expect(await eventually { handler.signals.contains { $0.member == "End" } })
        for member in ["Booked", "Struck", "Head", "End"] {
            let signal = try #require(handler.signals.last { $0.member == member })
            recording.signals.append(
                Recording.Signal(
                    interface: signal.interface ?? "", member: member,
                    message: Recording.Message(signature: signal.signature, body: signal.body)))
        }
        peer.close()
        loop.stop()
        return recording
    }
    /// Prints what the present version says, for a new recording: with RELAY_RECORD in the environment.
    @Test("the present version can be recorded, and read again") func present() async throws {
        let recording = try await Self.record()
        #expect(try Recording(parsing: recording.text).text == recording.text)
        if getenv("RELAY_RECORD") != nil { print(recording.text) }
    }
}
