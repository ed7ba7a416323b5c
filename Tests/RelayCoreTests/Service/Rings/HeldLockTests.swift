import CRingAttack
import Glibc
import RelayTestKit
import TestTraits
import Testing

@testable import RelayCore
import RelayWire

/// A lock of the kernel that a thread holds asleep, as long as this lives.
private final class HeldLock: Sendable {
    nonisolated(unsafe) private let hold: UnsafeMutableRawPointer  // Set once; for `attack_release` alone.

    init(_ descriptor: Int32, writes: Bool) throws {
        hold = try #require(attack_hold(descriptor, writes ? 1 : 0))
    }
    deinit { attack_release(hold) }
}

/// Whoever shares a description or a file can hold its lock as long as it likes: nobody's loop may take one.
@Suite(
    "Locks that the other side holds", .heavy, .tags(.g4, .g6),
    .enabled(
        if: attack_can_hold() == 0,
        "needs userfaultfd(2) for faults in the kernel: root, or the sysctl vm.unprivileged_userfaultfd"))
struct HeldLockTests {
    enum Held: CaseIterable { case ring, page }

    @Test(
        "a peer that blocks in a call on its ring, or its wait page, keeps nobody else waiting",
        arguments: Held.allCases)
    func service(_ held: Held) async throws {
        let desk = try await Desk()
        let hostile = try await RingPeer.join(desk.bus.bus)
        let reply = try await hostile.call(Desk.name, Desk1.name)
        let lock = try reply.descriptors[held == .ring ? 0 : 1].withNumber { try HeldLock($0, writes: held == .page) }
        // All that makes the service look at both, and others beside it.
        let attach = try hostile.stranger.begin(
            Desk.name, Desk.path, Stream1.name, "Attach",
            [.uint64(0), .uint64(0), .array(.string, [.string("*")]), AttachOptions().value])
        let again = try hostile.stranger.begin(Desk.name, Desk.path, Stream1.name, "OpenRing")
        let other = try await RingPeer.join(desk.bus.bus)
        var ring = try await other.openRing(Desk.name, Desk1.name)
        let answer = try await other.stranger.call(Desk.name, Desk.path, Desk1.name, "Echo", [.string("x")])
        #expect(answer == [.string("x")])
        try desk.service.publish(Torn(number: 1))
        #expect(try await other.drain(&ring, to: 1).count == 1)
        _ = try await attach.value
        _ = await again.result
        // And it can go, or the service.
        hostile.stranger.connection.close()
        try await desk.stop()
        withExtendedLifetime(lock) {}
    }
    @Test("a service that blocks in a call on its ring does not block the relay") func ring() async throws {
        let played = try await PlayedRing()
        let (log, service) = (played.log, played.service)
        let lock = try HeldLock(played.ring.descriptor, writes: false)
        await played.join()
        try service.put(0, "Said", FollowingTests.said(1))
        #expect(await log.wait(for: "1"))
        withExtendedLifetime(lock) {}
        service.vanish()
    }
    @Test("a service that blocks in a call on the wait page costs a thread: signals come, and the ring when it lets go")
    func page() async throws {
        let played = try await PlayedRing()
        let (log, service) = (played.log, played.service)
        var lock: HeldLock? = try HeldLock(played.ring.page.descriptor, writes: true)
        log.relay.activate()
        #expect(await eventually { log.relay.phase(of: Plain1.name) == .signals })
        #expect(await log.relay.isLive(Plain1.name))
        try service.publish("Said", FollowingTests.said(1))
        #expect(await log.wait(for: "1"))
        let core = log.relay.follower.core
        #expect(core.loop.withTurn { core.rings.preparing } == 1)
        withExtendedLifetime(lock) {}
        lock = nil
        await played.join()
        try service.put(0, "Said", FollowingTests.said(2))
        #expect(await log.wait(for: "2"))
        service.vanish()
    }
}
