import Glibc
import RelayCore
import RelayTestKit
import TestSupport
import TestTraits
import Testing

/// A service that is killed between a command's commit and its reply, or before both, and the same command again.
@Suite("A command that is sent again after a kill", .serialized, .heavy, .tags(.g5, .g6)) struct RepeatedCommandTests {
    @Test(
        "runs once, and has one reply, wherever the service ended",
        arguments: ["beforeCommit", "afterCommit", "beforeResume"])
    func killed(step: String) async throws {
        try await Site.with { site in
            let service = try await site.startFaultyService("--serve", "ledger", "--fault", step)
            let relay = try site.relay(Ledger1.self)
            relay.activate()
            let first = try await site.ask(relay, Ledger1.WriteOnce(number: 1, key: "first"))
            try site.arm()
            let command = Ledger1.WriteOnce(number: 2, key: "second")
            let error = await #expect(throws: RelayError.self) { _ = try await relay.call(command) }
            #expect(error?.mayHaveRun == true, "\(String(describing: error))")
            #expect(await service.outcome().exit == .signal(SIGKILL))
            site.disarm()

            let next = try await site.startFaultyService("--serve", "ledger")
            let reply = try await site.ask(relay, command)
            for _ in 1...3 { #expect(try await site.ask(relay, command) == reply) }
            #expect(try await site.ask(relay, Ledger1.WriteOnce(number: 1, key: "first")) == first && first != reply)
            let reused = await #expect(throws: RelayError.self) {
                _ = try await relay.call(Ledger1.WriteOnce(number: 3, key: "second"))
            }
            #expect(reused?.code == .keyReused && reused?.mayHaveRun == false)
            relay.invalidate()
            #expect(await next.terminate().code == 0)
            let events = try JournalFile("\(site.stateDirectory)/journal.sqlite").events(of: Ledger1.name)
            #expect(events.map(\.sequence) == [1, 2])
        }
    }
    @Test("killed at any moment, again and again, while commands come: each key is one event")
    func killedAnywhere() async throws {
        try await Site.with { site in
            let relay = try site.relay(Ledger1.self)
            relay.activate()
            var (number, replies): (Int64, [Int64: Ledger1.WriteOnce.Reply]) = (0, [:])
            for round in 1...TestForm.rounds(10, soak: 200) {
                let service = try await site.startFaultyService("--serve", "ledger")
                let killing = Task.detached {
                    try? await Task.sleep(for: .microseconds(Int.random(in: 0...60_000)))
                    service.signal(SIGKILL)
                }
                while service.exit == nil {
                    let command = Ledger1.WriteOnce(number: number + 1, key: "\(number + 1)")
                    do {
                        let reply = try await relay.call(command)
                        #expect(
                            replies.updateValue(reply, forKey: number + 1).map { $0 == reply } ?? true, "round \(round)"
                        )
                        number += 1
                    } catch let error as RelayError where error.code == .unavailable {
                        // It may have run: the next one tries the same again.
                        await Task.yield()
                    }
                }
                await killing.value
                _ = await service.outcome()
            }
            // All that were answered are answered so again.
            let last = try await site.startFaultyService("--serve", "ledger")
            for (number, reply) in replies {
                #expect(try await site.ask(relay, Ledger1.WriteOnce(number: number, key: "\(number)")) == reply)
            }
            _ = try await site.ask(relay, Ledger1.WriteOnce(number: number + 1, key: "\(number + 1)"))
            relay.invalidate()
            #expect(await last.terminate().code == 0)
            let events = try JournalFile("\(site.stateDirectory)/journal.sqlite").events(of: Ledger1.name)
            #expect(events.count == Int(number) + 1, "one event for each key")
        }
    }
}
