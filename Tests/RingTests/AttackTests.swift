import Glibc
import RelayCore
import RelayTestKit
import RingSupport
import Testing

/// A subscriber that holds the descriptors and means harm: the others' streams stay complete, and the publisher goes on.
@Suite("Attacks", .timeLimit(.minutes(10)), .serialized) struct AttackTests {
    static let events = 6_000
    static let whole = "records \(events) lapped 0 laps 0 torn 0 duplicates 0 gaps 0 last \(events)"

    private struct Scene {
        let waker = RingWaker()
        let ring: RingWriter
        let pages: [WaitPage]
        let board: ProgressBoard

        init() throws {
            ring = try RingWriter(
                "attacked", events: [RingEvent(name: "Any")], capacity: 1 << 20, epoch: 1,
                waker: waker)
            pages = [try WaitPage(slot: 0), try WaitPage(slot: 1)]
            board = try ProgressBoard()
            for page in pages { ring.attach(page) }
        }
        func reader() async throws -> PeerProcess {
            let peer = try PeerProcess(
                ["read", "0", "board"], [ring.descriptor, pages[0].descriptor, board.descriptor])
            try await peer.line("ready")
            return peer
        }
        func attacker(_ mode: String) throws -> PeerProcess {
            try PeerProcess([mode], [ring.descriptor, pages[1].descriptor])
        }
        /// Publishes all, in bursts: after each the honest reader catches up and falls asleep, so that it must be woken.
        func publish(_ count: Int) async throws {
            let (ring, board) = (ring, board)
            try await onThread {
                try Publishing(ring: ring, writer: 1).run(count, every: 100) { board.wait(for: 0..<1, at: $0) }
            }
        }
    }

    @Test("nothing that a holder of the descriptors asks of the kernel changes the ring") func system() async throws {
        let scene = try Scene()
        let (reader, attacker) = (try await scene.reader(), try scene.attacker("attack"))
        try await attacker.line("done")
        let lines = attacker.lines
        #expect(lines.count == 12 && lines.dropLast().allSatisfy { $0.hasPrefix("refused") }, "\(lines)")
        // It stays, and never drains.
        try await scene.publish(Self.events)
        scene.ring.end()
        #expect(try await reader.line("records") == Self.whole)
    }
    @Test(
        "what it does to its own wait page and to words of the ring harms nobody else",
        arguments: ["garbage", "futexes", "holes"])
    func busy(mode: String) async throws {
        let scene = try Scene()
        let (reader, attacker) = (try await scene.reader(), try scene.attacker(mode))
        try await attacker.line("ready")
        try await scene.publish(Self.events)
        scene.ring.end()
        #expect(try await reader.line("records") == Self.whole)
    }
    @Test("one that is stopped in its sleep is left there") func stopped() async throws {
        let scene = try Scene()
        let (reader, attacker) = (try await scene.reader(), try scene.attacker("asleep"))
        try await attacker.line("ready")
        attacker.signal(SIGSTOP)
        try await scene.publish(Self.events)
        scene.ring.end()
        #expect(try await reader.line("records") == Self.whole)
        attacker.signal(SIGCONT)
        #expect(attacker.lines == ["ready"])
    }
    @Test("one that is killed in its sleep is not missed") func killed() async throws {
        let scene = try Scene()
        let (reader, attacker) = (try await scene.reader(), try scene.attacker("asleep"))
        try await attacker.line("ready")
        let publishing = Task { try await scene.publish(Self.events) }
        #expect(await eventually { scene.board[0] > 500 })
        attacker.signal(SIGKILL)
        #expect(await attacker.waitForExit() == .signal(SIGKILL))
        try await publishing.value
        scene.ring.end()
        #expect(try await reader.line("records") == Self.whole)
    }
}
