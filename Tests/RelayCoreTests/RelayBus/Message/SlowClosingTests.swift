import CDBus
import CRingAttack
import Glibc
import RelayTestKit
import TestTraits
import Testing
import WireSupport

@testable import RelayBus
@testable import RelayCore
import RelayWire

/// A file whose descriptors are closed when its server agrees, which it does when this goes.
private final class SlowFile: Sendable {
    nonisolated(unsafe) private let file: UnsafeMutableRawPointer  // For C functions alone, which take its lock.

    init() throws { file = try #require(attack_slow_file()) }
    deinit { attack_slow_file_end(file) }

    /// How many wait in this process until it is closed.
    var waiting: Int { Int(attack_slow_file_waiting(file)) }
    func letGo() { attack_slow_file_let_go(file) }

    /// Sends a message with it. Everybody else who closes it waits from then on.
    func send(_ kind: SlowClosingTests.Kind, to name: String, on address: String) throws {
        let sender = try RawPeer(address)
        attack_slow_file_hold(file)
        let path = Desk.path
        let made =
            switch kind {
            case .signal: dbus_message_new_signal(path, Stream1.name, "Head")
            case .call: dbus_message_new_method_call(name, path, Desk1.name, "Echo")
            case .replay: dbus_message_new_method_call(name, path, Stream1.name, "OpenReplay")
            }
        let message = LibDBusMessage(owning: try #require(made))
        dbus_message_set_destination(message.pointer, name)
        var iterator = DBusMessageIter()
        dbus_message_iter_init_append(message.pointer, &iterator)
        var descriptor = attack_slow_file_descriptor(file)
        try #require(dbus_message_iter_append_basic(&iterator, ReceivedMessage.descriptorType, &descriptor) != 0)
        sender.send(message)
    }
}

/// Whoever serves a file can let its closing wait: nobody's loop may close what others sent.
@Suite(
    "Descriptors whose closing waits", .heavy, .tags(.g4),
    .enabled(if: attack_can_serve_files() == 0, "needs /dev/fuse and mount(2): root"))
struct SlowClosingTests {
    enum Kind: CaseIterable {
        case signal, call
        /// The one call whose descriptor the service takes.
        case replay
    }

    @Test("a service that was sent one goes on, in whatever message it came", arguments: Kind.allCases)
    func service(_ kind: Kind) async throws {
        let desk = try await Desk()
        let file = try SlowFile()
        for _ in 1...3 { try file.send(kind, to: Desk.name, on: desk.bus.address) }
        #expect(await eventually { file.waiting >= 3 })
        let other = try await BusStranger.join(desk.bus.bus)
        let answer = try await other.call(Desk.name, Desk.path, Desk1.name, "Echo", [.string("x")])
        #expect(answer == [.string("x")])
        file.letGo()
        try await desk.stop()
    }
    @Test("a relay that was sent one goes on") func relay() async throws {
        let bus = try PrivateBus()
        let log = try RelayLog(bus.bus)
        await log.activate()
        let service = try await FollowingTests.fake(bus.bus, epoch: 1)
        #expect(await log.relay.isLive(Plain1.name))
        let core = log.relay.follower.core
        let name = try #require(core.loop.withTurn { core.owner.connection?.uniqueName })
        let file = try SlowFile()
        try file.send(.signal, to: name, on: bus.address)
        #expect(await eventually { file.waiting > 0 })
        try service.publish("Said", FollowingTests.said(1))
        #expect(await log.wait(for: "1"))
        file.letGo()
        service.vanish()
    }
}
