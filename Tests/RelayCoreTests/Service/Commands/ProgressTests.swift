import RelayTestKit
import Synchronization
import TestTraits
import Testing

@testable import RelayCore
import RelayWire

private enum Bare1: EventInterface {
    static let name = "org.example.Bare1"
    static let durability = Volatile()
    static var contract: Contract<Self> { Bare.self }
}
private struct Bare: Command {
    typealias Interface = Bare1
    struct Progress: Codable, Sendable {}
}
private enum Scalar1: EventInterface {
    static let name = "org.example.Scalar1"
    static let durability = Volatile()
    static var contract: Contract<Self> { Scalar.self }
}
private struct Scalar: Command {
    typealias Interface = Scalar1
    typealias Progress = Double
}

@Suite("Progress and cancellation of commands", .heavy, .tags(.g3, .g4)) struct ProgressTests {
    /// A workshop, and a relay of it.
    private func site(_ bus: Bus) async throws -> (Workshop, EventRelay) {
        let workshop = try Workshop(bus)
        try await workshop.service.start()
        let relay = try EventRelay(following: Workshop.name, on: bus, interfaces: Works1.self)
        relay.activate()
        try await relay.call(Greet(number: 0))
        return (workshop, relay)
    }
    private func failure<C: Command>(_ outcome: CommandOutcome<C>) -> RelayError? {
        if case .failed(let error) = outcome { error } else { nil }
    }

    @Test("progress comes typed, in order, before the outcome; on a bus and in a harness", arguments: [false, true])
    func order(isHarness: Bool) async throws {
        let (daemon, harness) = (isHarness ? nil : try PrivateBus(), TestHarness())
        let (workshop, relay) = try await site(daemon?.bus ?? harness.bus)
        let work = relay.start(Work(number: 1, steps: 10))
        var steps: [Int32] = []
        for await progress in work.progress {
            #expect(progress.note.count == 100)
            steps.append(progress.step)
            if steps.count == 10 { workshop.release(1) }
        }
        #expect(steps == Array(1...10))
        #expect(try await work.outcome.get() == Work.Reply(steps: 10))
        #expect(try await work.outcome.get() == Work.Reply(steps: 10), "it can be asked again")
        // The reply leaves before the call is forgotten.
        #expect(await eventually { workshop.isEmpty })
        try await workshop.service.stop()
    }
    @Test("G3: a caller that does not read keeps few values, and the last one comes") func slowReader() async throws {
        let bus = try PrivateBus()
        let (workshop, relay) = try await site(bus.bus)
        workshop.release(1)
        let work = relay.start(Work(number: 1, steps: 5_000))
        #expect(try await work.outcome.get() == Work.Reply(steps: 5_000))
        var steps: [Int32] = []
        for await progress in work.progress { steps.append(progress.step) }
        #expect(steps.count <= 16 && steps.last == 5_000 && steps == steps.sorted(), "\(steps)")
        try await workshop.service.stop()
    }
    @Test("cancelling reaches a handler that asks for it, and no other") func cancelling() async throws {
        let bus = try PrivateBus()
        let (workshop, relay) = try await site(bus.bus)
        let work = relay.start(Work(number: 1, steps: 0))
        #expect(await workshop.wait(for: "work 1"))
        work.cancel()
        let error = failure(await work.outcome)
        #expect(error?.code == .cancelled && error?.mayHaveRun == true)
        #expect(await workshop.wait(for: "cancelled 1"))
        // The same by a task that waits, and by the call's time.
        let waiting = Task { await relay.outcome(of: Work(number: 2, steps: 0)) }
        #expect(await workshop.wait(for: "work 2"))
        waiting.cancel()
        #expect(failure(await waiting.value)?.code == .cancelled)
        #expect(await workshop.wait(for: "cancelled 2"))
        let late = await relay.outcome(of: Work(number: 3, steps: 0), timeout: .milliseconds(50))
        #expect(failure(late)?.code == .timedOut)
        // It may have been cancelled before it ran.
        #expect(
            await eventually {
                workshop.isEmpty && workshop.notes.contains("work 3") == workshop.notes.contains("cancelled 3")
            })
        // One that does not ask for it runs to its end.
        let labour = relay.start(Labour(number: 4))
        #expect(await workshop.wait(for: "labour 4"))
        labour.cancel()
        #expect(failure(await labour.outcome)?.code == .cancelled)
        workshop.release(4)
        #expect(await workshop.wait(for: "done 4"))
        #expect(await eventually { workshop.isEmpty })
        try await workshop.service.stop()
    }
    @Test("a cancellation goes past the calls that wait, and one that waits does not run") func pastTheQueue()
        async throws
    {
        let bus = try PrivateBus()
        let (workshop, relay) = try await site(bus.bus)
        let labour = relay.start(Labour(number: 1))
        #expect(await workshop.wait(for: "labour 1"))
        let (first, second) = (relay.start(Work(number: 2, steps: 0)), relay.start(Work(number: 3, steps: 0)))
        let last = relay.start(Greet(number: 9))
        #expect(await eventually { workshop.service.core.calls.running.count == 2 })
        second.cancel()
        #expect(failure(await second.outcome)?.code == .cancelled)
        // Answered past the queue, and behind the cancellation.
        _ = try await relay.follower.call(
            path: "/", interface: "org.freedesktop.DBus.Peer", member: "Ping")
        workshop.release(1)
        workshop.release(3)
        #expect(await workshop.wait(for: "work 2"))
        first.cancel()
        #expect(await workshop.wait(for: "cancelled 2"))
        _ = try await (labour.outcome.get(), last.outcome.get())
        #expect(!workshop.notes.contains("work 3"), "\(workshop.notes)")
        #expect(await eventually { workshop.isEmpty })
        try await workshop.service.stop()
    }
    @Test("any D-Bus client reads progress by its call's serial, and cancels its own calls only") func plainClient()
        async throws
    {
        let bus = try PrivateBus()
        let (workshop, _) = try await site(bus.bus)
        let (peer, other) = (try await BusStranger.join(bus.bus), try await BusStranger.join(bus.bus))
        var body = WireWriter()
        try DBusValue.encode([.int64(1), .int32(2)], into: &body)
        let answer = Mutex<Result<BusReply, RelayError>?>(nil)
        let serial = peer.connection.send(
            MethodCall(
                to: Workshop.name, path: Workshop.path, interface: Works1.name, member: "Work",
                signature: try Signature("xi"), body: body.bytes)
        ) { result in answer.withLock { $0 = result } }
        #expect(await eventually { peer.signals.count { $0.member == "Progress" } == 2 })
        let note = DBusValue.string(String(repeating: "x", count: 100))
        #expect(
            peer.signals.filter { $0.member == "Progress" }.map(\.values) == [
                [.uint32(serial), .variant(.structure([.int32(1), note]))],
                [.uint32(serial), .variant(.structure([.int32(2), note]))],
            ])
        #expect(!other.signals.contains { $0.member == "Progress" })
        _ = try await other.call(Workshop.name, Workshop.path, Stream1.name, "Cancel", [.uint32(serial)])
        _ = try await peer.call(Workshop.name, Workshop.path, Stream1.name, "Cancel", [.uint32(serial &+ 1)])
        #expect(!workshop.notes.contains("cancelled 1"))
        _ = try await peer.call(Workshop.name, Workshop.path, Stream1.name, "Cancel", [.uint32(serial)])
        #expect(await eventually { answer.withLock { $0 != nil } })
        guard case .failure(let error)? = answer.withLock({ $0 }) else {
            Issue.record("was answered with a reply")
            return
        }
        #expect((error.cause as? RemoteError)?.name == "org.eventrelay.Error.Cancelled")
        let xml = try await peer.call(
            Workshop.name, Workshop.path, "org.freedesktop.DBus.Introspectable", "Introspect")
        guard case .string(let text)? = xml.first else { return }
        #expect(text.contains("<annotation name=\"org.eventrelay.Progress\" value=\"(step:i,note:s)\"/>"))
        #expect(text.contains("<annotation name=\"org.eventrelay.Cancellable\" value=\"true\"/>"))
        try await workshop.service.stop()
    }
    @Test("a progress type without fields, or that is no structure, is refused at registration") func refusals() {
        func text(_ make: () throws -> EventService) -> String? {
            do {
                _ = try make()
                return nil
            } catch { return (error as? RelayError)?.message }
        }
        let bare = text { try EventService(name: "org.example.Bare", exporting: Bare1.self) }
        #expect(bare?.contains("the progress of Bare, has to be a structure with fields") == true, "\(bare ?? "")")
        let plain = text { try EventService(name: "org.example.Bare", exporting: Scalar1.self) }
        #expect(plain?.contains("Double, the progress of Scalar,") == true, "\(plain ?? "")")
        #expect(throws: RelayError.self) {
            try EventRelay(following: "org.example.Bare", interfaces: Bare1.self)
        }
    }
    @Test("a test can call a handler as a function, and see what it reports") func context() {
        let seen = Mutex<[Work.Progress]>([])
        let context = CommandContext(peer: Peer(userID: 1)) { progress in
            if let progress = progress as? Work.Progress { seen.withLock { $0.append(progress) } }
        }
        let work = Work(number: 1, steps: 1)
        context.report(.init(step: 1, note: ""), of: work)
        #expect(seen.withLock { $0 } == [.init(step: 1, note: "")])
    }
}
