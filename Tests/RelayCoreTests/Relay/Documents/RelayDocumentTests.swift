import RelayTestKit
import TestTraits
import Testing

@testable import RelayCore

/// The view of a user.
@MainActor private final class RulesView: DocumentView {
    private(set) var shown: [Rules] = []
    func show(_ rules: Rules) { shown.append(rules) }
}

@Suite("A service's documents at a relay", .heavy, .tags(.g1, .g2, .g6)) struct RelayDocumentTests {
    private func relay(_ office: Office, _ delivery: DeliveryTarget = .background) throws -> EventRelay {
        try EventRelay(
            following: Office.name, on: office.bus.bus, interfaces: Office1.self, Archive1.self, delivery: delivery)
    }
    private func rules(_ number: Int64) -> Rules { Rules(numbers: ["a": number]) }
    private func ascends<D>(_ states: [VersionedState<D>]) -> Bool {
        zip(states, states.dropFirst()).allSatisfy { a, b in
            a.version.epoch != b.version.epoch || a.version.sequence < b.version.sequence
        }
    }

    @Test(
        "the present state and every one after it: as a sequence, a closure and a document with views; over a restart")
    @MainActor func follows() async throws {
        var office = try await Office()
        for number in 1...3 { try await office.service.document(Rules.self).set(rules(Int64(number))) }
        let relay = try relay(office)
        let closure = Log<VersionedState<Rules>>()
        let subscription = try relay.follow(Rules.self) { present in
            MainActor.assertIsolated()
            closure.add(present)
        } onFailure: { _ in
        }
        let (local, optional) = (LocalDocument(Rules.initial), LocalDocument<Rules?>(nil))
        let (view, seen) = (RulesView(), Log<Rules?>())
        local.addView(view, key: "view")
        optional.addView(key: "log", delivery: .immediate) { seen.add($0) }
        let (first, second) = (
            try relay.follow(Rules.self, into: local) { _ in },
            try relay.follow(Rules.self, into: optional) { _ in }
        )
        let stream = try relay.snapshots(of: Rules.self)
        relay.activate()
        #expect(await eventually { closure.count == 1 && view.shown.count == 2 && seen.count == 2 })
        for number in 4...10 {
            try await office.service.document(Rules.self).set(rules(Int64(number)))
            // Equal: no entry.
            try await office.service.document(Rules.self).set(rules(Int64(number)))
            try await office.service.publish(Filed(number: Int64(number)))
        }
        #expect(await eventually { closure.count == 8 })
        office = try await office.restarted()
        for number in 11...20 { try await office.service.document(Rules.self).set(rules(Int64(number))) }
        #expect(await eventually { closure.values.last?.state == rules(20) && local.state == rules(20) })
        #expect(await eventually { view.shown.last == rules(20) && seen.values.last == rules(20) })
        #expect(closure.values.map(\.state) == (3...20).map { rules($0) } && ascends(closure.values))
        #expect(view.shown == [Rules.initial] + (3...20).map { rules($0) })
        #expect(seen.values == [nil] + (3...20).map { rules($0) })
        var streamed: [VersionedState<Rules>] = []
        for try await present in stream {
            streamed.append(present)
            if present.state == rules(20) { break }
        }
        #expect(streamed.map(\.state) == (3...20).map { rules($0) } && ascends(streamed))
        withExtendedLifetime((subscription, first, second)) {}
        try await office.stop()
    }
    @Test("a volatile document: the initial state, each change, and its beginning anew with another run")
    func volatile() async throws {
        var office = try await Office()
        let relay = try relay(office)
        let seen = Log<VersionedState<Board>>()
        let subscription = try relay.follow(Board.self) {
            seen.add($0)
        } onFailure: { _ in
        }
        relay.activate()
        #expect(await eventually { seen.count == 1 })
        for number in 1...50 { try office.service.document(Board.self).set(Board(title: "\(number)", lines: [])) }
        #expect(await eventually { seen.values.last?.state.title == "50" })
        #expect(seen.values.map(\.state.title) == [""] + (1...50).map { "\($0)" } && ascends(seen.values))
        office = try await office.restarted()
        try office.service.document(Board.self).set(Board(title: "again", lines: ["x"]))
        #expect(await eventually { seen.values.last?.state.title == "again" })
        #expect(seen.values.last?.version.epoch != seen.values.first?.version.epoch && ascends(seen.values))
        subscription.cancel()
        try await office.stop()
    }
    @Test("a submission has a version, a conflict or a refusal as its outcome, and a repeated one its first")
    func submits() async throws {
        let office = try await Office { service in
            service.handleSubmissions(of: Lamp.self) { submission in
                if submission.state.brightness > 100 { throw Lamp.Refusal.tooBright }
                return submission.state
            }
        }
        let relay = try relay(office)
        relay.activate()
        for _ in 0..<2 {
            let present = try await relay.snapshot(of: Lamp.self)
            var lamp = present.state
            lamp.brightness += 1
            let outcome = await relay.outcome(ofSubmitting: lamp, basedOn: present.version, idempotencyKey: "once")
            let repeated = await relay.outcome(ofSubmitting: lamp, basedOn: present.version, idempotencyKey: "once")
            if lamp.brightness == 2 {
                guard case .success(let version) = outcome else {
                    Issue.record("\(outcome)")
                    return
                }
                #expect(version.sequence == 1 && repeated == outcome)
                #expect(await relay.outcome(ofSubmitting: lamp, basedOn: present.version) == .conflict)
                await #expect(throws: RelayError.self) { try await relay.submit(lamp, basedOn: present.version) }
                do { try await relay.submit(lamp, basedOn: present.version) } catch .conflict {}
            } else if case .failed(let error) = outcome {
                #expect(error.code == .keyReused, "the id of another operation: \(error)")
            } else {
                Issue.record("\(outcome)")
            }
        }
        let present = try await relay.snapshot(of: Lamp.self)
        let bright = Lamp(brightness: 101, colour: nil)
        #expect(await relay.outcome(ofSubmitting: bright, basedOn: present.version) == .refused(.tooBright))
        await #expect(throws: Lamp.Refusal.tooBright) { try await relay.update(Lamp.self) { $0.brightness = 500 } }
        #expect(try await relay.snapshot(of: Lamp.self) == present)
        try await office.stop()
    }
    @Test("updates of several relays and of the service: none is lost, and none is applied twice")
    func updates() async throws {
        let office = try await Office()
        let relays = try (0..<3).map { _ in try relay(office) }
        for relay in relays { relay.activate() }
        let durable = try office.service.document(Rules.self)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for relay in relays {
                group.addTask {
                    for _ in 0..<20 {
                        try await relay.update(Rules.self) { $0.numbers["a", default: 0] += 1 }
                        try await relay.update(Lamp.self) { $0.brightness += 1 }
                    }
                }
            }
            group.addTask {
                for _ in 0..<20 { try await durable.update { $0.numbers["a", default: 0] += 1 } }
            }
            try await group.waitForAll()
        }
        #expect(durable.state.numbers["a"] == 80)
        #expect(try office.service.document(Lamp.self).state.brightness == 61)
        let unchanged = try await relays[0].update(Rules.self) { _ in }
        #expect(unchanged.version == durable.version)
        try await office.stop()
    }
    @Test("an update waits for a service that is away, and ends with the time that it has")
    func away() async throws {
        var office = try await Office()
        let relay = try relay(office)
        relay.activate()
        try await office.stop()
        let error = try await #require(throws: RelayError.self) {
            try await relay.update(Rules.self, within: .milliseconds(300)) { $0.numbers["a"] = 1 }
        }
        #expect([.unavailable, .timedOut].contains(error.code), "\(error)")
        async let updated = relay.update(Rules.self, within: .seconds(120)) { $0.numbers["a"] = 2 }
        office = try await Office(office.bus, office.log.reopened())
        #expect(try await updated.state.numbers == ["a": 2])
        #expect(try office.service.document(Rules.self).state.numbers == ["a": 2])
        try await office.stop()
    }
    @Test("what no retry mends ends a sequence with an error, and is reported to a closure once")
    func failures() async throws {
        let office = try await Office()
        // The service has no such document, or one of another type.
        enum Later1: EventInterface {
            static let name = Office1.name
            static let durability = Volatile()
            static var contract: Contract<Self> {
                Board.self
                Missing.self
            }
            struct Board: DomainDocument {
                typealias Interface = Later1
                var title: Int64
                static let initial = Self(title: 0)
            }
            struct Missing: DomainDocument {
                typealias Interface = Later1
                var title: String
                static let initial = Self(title: "")
            }
        }
        let relay = try EventRelay(following: Office.name, on: office.bus.bus, interfaces: Later1.self)
        relay.activate()
        let changed = try relay.snapshots(of: Later1.Board.self)
        let missing = try relay.snapshots(of: Later1.Missing.self)
        await #expect(throws: RelayError.self) { for try await _ in changed {} }
        await #expect(throws: RelayError.self) { for try await _ in missing {} }
        await #expect(throws: RelayError.self) { try await relay.snapshot(of: Later1.Missing.self) }
        #expect(throws: RelayError.self) { try relay.snapshots(of: Rules.self) }
        try await office.stop()
    }
    @Test("a sequence ends when it is cancelled, with its task, and with its relay")
    func ends() async throws {
        let office = try await Office()
        let relay = try relay(office)
        relay.activate()
        let (ended, inTask) = (try relay.snapshots(of: Rules.self), try relay.snapshots(of: Rules.self))
        let taken = Log<Int64>()
        let task = Task {
            for try await _ in inTask { taken.add(1) }
        }
        #expect(await eventually { taken.count == 1 })
        task.cancel()
        try await task.value
        var count = 0
        for try await _ in ended {
            count += 1
            relay.invalidate()
        }
        #expect(count == 1)
        try await office.stop()
    }
}
