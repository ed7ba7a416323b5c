import RelayTestKit
import TestTraits
import Testing

@testable import RelayCore

/// The stream knows its direct inlet by the protocol only: so a test can play one.
@Suite("A direct inlet, played", .heavy, .tags(.g1, .g2)) struct InletTests {
    /// Holds what a test puts there.
    private final class PlayedInlet: DirectInlet, DirectTransport, @unchecked Sendable {  // In a turn of the loop only.
        private let refuses: Bool
        private var isAsked = false
        private var format: PayloadFormat?
        private var held: [UInt64] = []
        private(set) var epoch: UInt64?
        private(set) var calls: [String] = []
        private(set) var isParked = false
        var isOpening: Bool { isAsked }

        init(refuses: Bool) { self.refuses = refuses }
        func inlet(of interface: String) -> any DirectInlet { self }
        func forgetOwner() { calls.append("forget owner") }
        func rules(for names: NameScope, _ stream: StreamAddress) -> [MatchRule] { [stream.words()] }

        func open(_ stream: StreamController, _ session: SessionController) {
            calls.append("open")
            if refuses { return stream.inletRefused(session) }
            isAsked = true
            stream.askSchemas(session)
            schemasArrived(stream, session)
        }
        func schemasArrived(_ stream: StreamController, _ session: SessionController) {
            guard isAsked, let schemas = stream.schemas else { return }
            isAsked = false
            format = try? PayloadFormat(RingEvent(name: "Said"), schemas, transport: .ring)
            epoch = 1
            stream.inletOpened(session)
        }
        func close(_ stream: StreamController, _ session: SessionController) {
            calls.append("close")
            (epoch, held) = (nil, [])
        }
        func forget(isNewOwner: Bool) { isAsked = false }
        func put(_ sequence: UInt64) { held.append(sequence) }
        func drainOrPark(most limit: Int, _ stream: StreamController, _ session: SessionController) {
            isParked = stream.awaitsAnswer
            if !isParked { drain(through: .max, stream, session) }
        }
        func drain(through last: UInt64, _ stream: StreamController, _ session: SessionController) {
            guard let epoch, let format else { return }
            while let sequence = held.first, sequence <= last {
                held.removeFirst()
                var payload = WireWriter()
                guard (try? DBusValue.encode(FollowingTests.said(Int64(sequence)), into: &payload)) != nil else {
                    return
                }
                let event = Array("Said".utf8).withUnsafeBytes { stream.event(named: $0, session) }
                let stamp = Stamp(
                    epoch: epoch, sequence: sequence, previous: sequence - 1,
                    publishedAt: Timestamp(microseconds: 1))
                payload.withUnsafeBytes { payload in
                    stream.receive(event, RawEvent(.passUnretained(format), payload: payload), stamp, session)
                }
            }
        }
    }
    /// A service by hand, and a follower whose stream has the played inlet.
    private struct World {
        let bus: PrivateBus
        let inlet: PlayedInlet
        let service: FakeService
        let follower: ServiceFollower
        let log = Log<String>()

        init(refuses: Bool = false) async throws {
            bus = try PrivateBus()
            inlet = PlayedInlet(refuses: refuses)
            service = try await FakeService.start(
                Desk.name, Plain1.name, on: bus.bus, epoch: 1, schemas: FollowingTests.schemas)
            follower = try ServiceFollower(
                service: Desk.name, on: bus.bus, transport: inlet,
                sink: ClosureSink { [log] output in
                    switch output {
                    case .event(let event): log.add("\(event.stamp.sequence) \(event.transport)")
                    case .gap(_, let gap): log.add("gap from \(gap.sequences.lowerBound)")
                    case .state: break
                    }
                })
            follower.follow(interface: Plain1.name, names: ["Said"])
            follower.activate()
            #expect(await isLive(refuses ? .signals : .direct))
        }
        func isLive(_ phase: TransportChoice.Phase) async -> Bool {
            await eventually {
                inTurn { stream in
                    stream.inlets.choice.phase == phase && stream.shared.machine.isFollowing
                        && !stream.shared.machine.awaitsAnswer
                } ?? false
            }
        }
        @discardableResult func inTurn<Result>(_ body: (StreamController) -> Result) -> Result? {
            follower.loop.withTurn { follower.core.state.onLoop.streams[Plain1.name].map(body) }
        }
        /// Publishes one event into the inlet, and notifies nobody.
        func put() throws {
            try service.put(0, "Said", [])
            let sequence = service.sequence
            follower.loop.withTurn { inlet.put(sequence) }
        }
        func wait(for lines: [String]) async -> Bool { await eventually { log.values == lines } }
    }

    @Test("it is drained before a Head that counts what it holds, and by its own news") func head() async throws {
        let world = try await World()
        for _ in 1...3 { try world.put() }
        try world.service.announce()
        #expect(await world.wait(for: ["1 ring", "2 ring", "3 ring"]))
        try world.put()
        world.inTurn { $0.drainInlet(world.follower.core) }
        #expect(await world.wait(for: ["1 ring", "2 ring", "3 ring", "4 ring"]))
        world.service.vanish()
    }
    @Test("what it holds comes before the owner's departure") func departure() async throws {
        let world = try await World()
        for _ in 1...2 { try world.put() }
        world.service.vanish()
        #expect(await world.wait(for: ["1 ring", "2 ring", "gap from 3"]))
        #expect(
            await eventually {
                world.follower.loop.withTurn { world.inlet.calls.suffix(2) == ["close", "forget owner"] }
            })
    }
    @Test("what it holds comes before a reply") func reply() async throws {
        let world = try await World()
        for _ in 1...2 { try world.put() }
        do {
            _ = try await world.follower.call(interface: Stream1.name, member: "OpenRing")
            Issue.record("the service has no ring")
        } catch {}
        #expect(world.log.values == ["1 ring", "2 ring"])
        world.service.vanish()
    }
    @Test("after a fault, or a refusal, signals bring the events", arguments: [false, true])
    func fallBack(_ refuses: Bool) async throws {
        let world = try await World(refuses: refuses)
        if !refuses {
            try world.put()
            world.inTurn { $0.drainInlet(world.follower.core) }
            let attaches = world.service.attaches
            world.inTurn { $0.inletFaulted(world.follower.core) }
            // The bus has the rules for signals before this question.
            #expect(await eventually { world.service.attaches > attaches })
            #expect(await world.isLive(.signals))
            #expect(world.follower.ringFaults == 1)
        }
        let first = world.service.sequence
        try world.service.publish("Said", FollowingTests.said(0))
        #expect(await eventually { world.log.values.last == "\(first + 1) signal" })
        #expect(world.log.values.count == Int(first) + 1)
        #expect(world.follower.loop.withTurn { world.inlet.calls } == (refuses ? ["open"] : ["open", "close"]))
        world.service.vanish()
    }
}
