import Glibc
import RelayCore
import RelayWire
import RelayTestKit
import Synchronization
import TestSupport
import TestTraits
import Testing

/// A service that makes events of another one's is killed again and again, and so is the other one.
@Suite("Kills of a service that consumes another one's events", .serialized, .heavy, .tags(.g2, .g5, .g6))
struct ConsumeKillTests {
    private final class Progress: Sendable {
        let writes = Atomic<Int>(0)
    }
    @Test("each event was accounted for once, in order: state, position and events of the consumer agree")
    func killed() async throws {
        let kills = Endurance.count(20, soak: 2_000)
        print("consume kills: seed \(Endurance.seed)")
        try await Site.with { site in
            var random = SeededGenerator(seed: Endurance.seed)
            let (folder, copies) = (site.folder.path + "/ledger", site.folder.path + "/chain")
            func ledger() throws -> RunningProgram {
                try site.launch(
                    Programs.faultyService,
                    ["--bus", site.address, "--state-directory", folder, "--serve", "ledger"])
            }
            func chain() throws -> RunningProgram {
                try site.launch(Programs.runPeer, ["chain", "--bus", site.address, "--state-directory", copies])
            }
            var (origin, consumer) = (try ledger(), try chain())
            let relay = try EventRelay(
                following: Ledger1.service, on: site.bus, interfaces: Ledger1.self, onNotice: { _ in })
            relay.activate()
            try await relay.ready(within: .seconds(300))
            // A call whose outcome is unknown may have written: what there is, the ledger says at the end.
            let progress = Progress()
            let writing = Task {
                var next: Int64 = 1
                while !Task.isCancelled {
                    let count = Int64.random(in: 1...40)
                    let outcome = await relay.outcome(of: Ledger1.Write(first: next, count: count))
                    if case .failed(let error) = outcome, !error.mayHaveRun { continue }
                    if case .success = outcome { progress.writes.add(1, ordering: .relaxed) }
                    next += count
                    try? await Task.sleep(for: .milliseconds(2))
                }
            }
            func hasWritten(_ count: Int) async -> Bool {
                await eventually(within: .seconds(300)) { progress.writes.load(ordering: .relaxed) >= count }
            }
            for kill in 1...kills {
                // Every other kill may come while they begin: a busy machine would write nothing between those.
                if kill.isMultiple(of: 2) {
                    #expect(await hasWritten(kill / 2))
                    try await consumer.line(containing: "consuming")
                }
                try await Task.sleep(for: .microseconds(Int.random(in: 0...60_000, using: &random)))
                if Bool.random(using: &random) {
                    origin.signal(SIGKILL)
                    _ = await origin.outcome()
                    origin = try ledger()
                } else {
                    consumer.signal(SIGKILL)
                    let outcome = await consumer.outcome()
                    #expect(outcome.exit == .signal(SIGKILL), "\(outcome)")
                    consumer = try chain()
                }
            }
            #expect(await hasWritten(kills + 1))
            writing.cancel()
            await writing.value
            try await relay.ready(within: .seconds(300))
            let written = try await events(of: Ledger1.Entry.self, from: relay).map { $0[0] }
            #expect(written.count > kills && Set(written).count == written.count)
            let copy = try EventRelay(
                following: Chain1.service, on: site.bus, interfaces: Chain1.self, onNotice: { _ in })
            copy.activate()
            var copied: [[Int64]] = []
            #expect(
                try await eventually {
                    copied = try await events(of: Chain1.Copied.self, from: copy)
                    return copied.count >= written.count
                })
            #expect(copied.map { $0[0] } == written)
            var sum: Int64 = 0
            for event in copied {
                sum += event[0]
                #expect(event[1] == sum)
                if event[1] != sum { break }
            }
            #expect(try await events(of: Chain1.Missed.self, from: copy).isEmpty)
            #expect(consumer.exit == nil, "\(consumer.errors)")
            print("consume kills: \(kills), events \(written.count)")
        }
    }
    /// The numbers of those that the service has now.
    private func events<E: DomainEvent>(of type: E.Type, from relay: EventRelay) async throws -> [[Int64]] {
        let stream = try relay.polledEnvelopes(of: E.Interface.name, named: [E.name], from: .beginning)
        var events: [[Int64]] = []
        let isWhole = try await eventually {
            while let delivery = stream.poll() {
                guard case .event(let event, _) = delivery else { continue }
                events.append(try event.values().compactMap { if case .int64(let value) = $0 { value } else { nil } })
            }
            return stream.isCaughtUp
        }
        #expect(isWhole)
        return events
    }
}
