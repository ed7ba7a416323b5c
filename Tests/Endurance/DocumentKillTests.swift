import Glibc
import RelayCore
import RelayTestKit
import TestSupport
import TestTraits
import Testing

/// A service that is killed between a submission's commit and its reply, or before both, and the same submission again.
@Suite("A document that is submitted again after a kill", .serialized, .heavy, .tags(.g5, .g6))
struct DocumentKillTests {
    private typealias Agenda = Minutes1.Agenda

    @Test(
        "is set once, and has one version, wherever the service ended",
        arguments: ["beforeCommit", "afterCommit", "beforeResume"])
    func killed(step: String) async throws {
        try await Site.with { site in
            let service = try await site.startFaultyService("--serve", "minutes", "--fault", step)
            let relay = try site.relay(Minutes1.self)
            relay.activate()
            func submit(_ count: Int64, _ version: DocumentVersion, _ id: String) -> SubmitDocument<Agenda> {
                SubmitDocument(Agenda(counts: ["a": count]), basedOn: version, idempotencyKey: id)
            }
            let initial = DocumentVersion(epoch: 0, sequence: 0)
            let first = try await site.ask(relay, submit(1, initial, "first"))
            #expect(first.sequence == 1)
            try site.arm()
            let second = submit(2, first, "second")
            let error = await #expect(throws: RelayError.self) { _ = try await relay.call(second) }
            #expect(error?.mayHaveRun == true, "\(String(describing: error))")
            #expect(await service.outcome().exit == .signal(SIGKILL))
            site.disarm()

            let next = try await site.startFaultyService("--serve", "minutes")
            let version = try await site.ask(relay, second)
            #expect(version.sequence == 2)
            for _ in 1...3 { #expect(try await site.ask(relay, second) == version) }
            #expect(try await site.ask(relay, submit(1, initial, "first")) == first)
            let outcome = await relay.outcome(of: submit(3, first, "third"))
            guard case .refused(.conflict) = outcome else {
                Issue.record("\(outcome)")
                return
            }
            #expect(try await site.ask(relay, submit(3, version, "third")).sequence == 3)
            relay.invalidate()
            #expect(await next.terminate().code == 0)
        }
    }
    @Test("killed at any moment, again and again, while it is edited: no change is lost, none is made twice")
    func killedAnywhere() async throws {
        try await Site.with { site in
            let relay = try site.relay(Minutes1.self)
            relay.activate()
            var (count, version) = (Int64(0), DocumentVersion(epoch: 0, sequence: 0))
            for round in 1...TestForm.rounds(10, soak: 100) {
                let service = try await site.startFaultyService("--serve", "minutes")
                let killing = Task.detached {
                    try? await Task.sleep(for: .microseconds(Int.random(in: 0...60_000)))
                    service.signal(SIGKILL)
                }
                while service.exit == nil {
                    let next = SubmitDocument(
                        Agenda(counts: ["a": count + 1]), basedOn: version, idempotencyKey: "\(count + 1)")
                    do {
                        let changed = try await relay.call(next)
                        #expect(changed.sequence > version.sequence, "round \(round)")
                        (count, version) = (count + 1, changed)
                    } catch let error as RelayError where error.code == .unavailable {
                        // It may have been set: the next one tries the same again.
                        await Task.yield()
                    }
                }
                await killing.value
                _ = await service.outcome()
            }
            let last = try await site.startFaultyService("--serve", "minutes")
            let final = SubmitDocument(
                Agenda(counts: ["a": count + 1]), basedOn: version, idempotencyKey: "\(count + 1)")
            #expect(try await site.ask(relay, final).sequence == UInt64(count) + 1, "one entry for each change")
            relay.invalidate()
            #expect(await last.terminate().code == 0)
        }
    }
}
