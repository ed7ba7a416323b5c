import Glibc
import RelayCore
import RelayTestKit
import Synchronization
import TestSupport
import TestTraits
import Testing

/// Two front ends and a service change one durable document, and the service is killed meanwhile.
@Suite("A document that three change", .serialized, .heavy, .tags(.g1, .g2, .g5, .g6)) struct DocumentEditingTests {
    /// What one front end does and sees.
    private final class FrontEnd: Sendable {
        let name: String
        let relay: EventRelay
        let local = LocalDocument(Tally1.Tally.initial)
        private let following: Mutex<[Subscription]>
        private let seen: Log<VersionedState<Tally1.Tally>>
        private let done = Mutex(0)

        init(_ name: String, _ site: Site) throws {
            (self.name, relay) = (
                name,
                try EventRelay(following: Tally1.service, on: site.bus, interfaces: Tally1.self, activation: .ifRunning)
            )
            let seen = Log<VersionedState<Tally1.Tally>>()
            self.seen = seen
            following = Mutex([
                try relay.follow(Tally1.Tally.self, into: local) { _ in },
                try relay.follow(Tally1.Tally.self) {
                    seen.add($0)
                } onFailure: { _ in
                },
            ])
            relay.activate()
        }
        var updates: Int { done.withLock { $0 } }
        func edit(_ count: Int) async throws {
            for _ in 0..<count {
                try await relay.update(Tally1.Tally.self, within: .seconds(300)) { $0.count(name) }
                done.withLock { $0 += 1 }
            }
        }
        /// What contradicts the promise in what it saw.
        var faults: [String] {
            let states = seen.values
            var faults: [String] = []
            for (before, after) in zip(states, states.dropFirst()) {
                let (a, b) = (before.version.sequence, after.version.sequence)
                if b <= a { faults.append("version \(b) of run \(after.version.epoch) after \(a)") }
                // Each version is one step of one of the three.
                let steps = after.state.total - before.state.total
                if steps != Int64(b) - Int64(a) { faults.append("\(steps) steps from \(a) to \(b)") }
                for (name, count) in before.state.counts where after.state.counts[name, default: 0] < count {
                    faults.append("\(name) went back at \(b)")
                }
            }
            return faults
        }
        var states: Int { seen.count }
        var last: Tally1.Tally? { seen.values.last?.state }
        func end() {
            relay.invalidate()
            following.withLock { $0 = [] }
        }
    }

    @Test("no change is lost or applied twice, all three end equal, and each saw ascending versions only")
    func edit() async throws {
        let each = Endurance.count(200, soak: 3_334)
        let kills = 10
        try await Site.with { site in
            @Sendable func launch() throws -> RunningProgram {
                try site.launch(
                    Programs.runPeer,
                    ["tally", "--bus", site.address, "--state-directory", site.stateDirectory, "--edits", "\(each)"])
            }
            let ends = try ["first", "second"].map { try FrontEnd($0, site) }
            var service = try launch()
            let editing = Task {
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for end in ends { group.addTask { try await end.edit(each) } }
                    try await group.waitForAll()
                }
            }
            for kill in 1...kills {
                let due = kill * 2 * each / (kills + 1)
                #expect(await eventually { ends.map(\.updates).reduce(0, +) >= due })
                service.signal(SIGKILL)
                #expect(await service.outcome().exit == .signal(SIGKILL))
                service = try launch()
            }
            try await editing.value
            try await service.line(containing: "edited")
            let last = try await ends[0].relay.snapshot(of: Tally1.Tally.self)
            #expect(last.state.counts == ["first": Int64(each), "second": Int64(each), "service": Int64(each)])
            // The first entry has the sequence 1: as many versions as changes.
            #expect(last.version.sequence == UInt64(3 * each))
            for end in ends {
                #expect(await eventually { end.last == last.state && end.local.state == last.state })
                #expect(end.faults == [])
            }
            print("document: \(3 * each) changes, \(kills) kills; the front ends saw \(ends.map(\.states)) states")
            for end in ends { end.end() }
        }
    }
}
