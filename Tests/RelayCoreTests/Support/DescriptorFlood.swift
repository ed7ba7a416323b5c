import CDBus
import CRingAttack
import Glibc
import RelayTestKit
import Synchronization
import Testing
import WireSupport

@testable import RelayCore
import RelayWire

/// Connections that send one peer signals with 16 descriptors each, as many as the bus takes: of another user, where
/// this process may become one.
///
/// With the system bus's limits, the bus then drops whatever else is for that peer, its own announcements and answers
/// included, until the peer reads.
final class DescriptorFlood: Sendable {
    private let victim: String
    private let address: String
    private let isOver = Atomic<Bool>(false)
    private let running = Atomic<Int>(0)
    private let failures = Mutex<[String]>([])
    static let stranger: UInt32 = 65_534

    /// A bus that any user may join, with the limits that dbus-daemon has built in.
    static func openBus() throws -> PrivateBus {
        let bus = try PrivateBus(limits: .builtIn, policy: "<policy context=\"mandatory\"><allow user=\"*\"/></policy>")
        #expect(chmod(bus.directory, 0o755) == 0 && chmod("\(bus.directory)/bus", 0o666) == 0)
        return bus
    }
    init(of victim: String, at address: String, connections: Int = 8) throws {
        (self.victim, self.address) = (victim, address)
        for _ in 0..<connections {
            running.add(1, ordering: .sequentiallyConsistent)
            try OwnThread.start("flood") { [self] in
                do { try flood() } catch { failures.withLock { $0.append("\(error)") } }
                running.subtract(1, ordering: .sequentiallyConsistent)
            }
        }
    }
    /// Returns when nobody floods any more. What the bus has taken is still there.
    func end() async {
        isOver.store(true, ordering: .sequentiallyConsistent)
        #expect(await eventually { running.load(ordering: .sequentiallyConsistent) == 0 })
        #expect(failures.withLock { $0 } == [])
    }
    private func flood() throws {
        // Of this thread alone, which ends with the flood.
        if geteuid() == 0, case let failure = attack_become(Self.stranger), failure != 0 { throw SystemError(failure) }
        let peer = try RawPeer(address)
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw SystemError(errno) }
        defer { for end in ends { close(end) } }
        while !isOver.load(ordering: .relaxed) {
            // The bus stops reading from a connection of which it holds enough.
            if dbus_connection_get_outgoing_size(peer.pointer) < 4_096 {
                guard let made = dbus_message_new_signal("/flood", "org.example.Flood1", "Flooded") else { continue }
                let message = LibDBusMessage(owning: made)
                dbus_message_set_destination(message.pointer, victim)
                var iterator = DBusMessageIter()
                dbus_message_iter_init_append(message.pointer, &iterator)
                for _ in 0..<16 { dbus_message_iter_append_basic(&iterator, Int32(UInt8(ascii: "h")), &ends[0]) }
                dbus_connection_send(peer.pointer, message.pointer, nil)
            }
            dbus_connection_read_write(peer.pointer, 1)
            while let answer = dbus_connection_pop_message(peer.pointer) { dbus_message_unref(answer) }
        }
    }
    /// How many descriptors wait at the bus for a peer.
    static func waiting(for peer: String, by witness: BusStranger) async throws -> UInt32 {
        let bus = "org.freedesktop.DBus"
        let stats = try await witness.call(
            bus, "/org/freedesktop/DBus", bus + ".Debug.Stats", "GetConnectionStats", [.string(peer)])
        guard case .dictionary(_, let entries)? = stats.first else { return 0 }
        for entry in entries where entry.key == .string("OutgoingFDs") {
            if case .variant(.uint32(let count)) = entry.value { return count }
        }
        throw RelayError(.notFound, "the bus does not say how many descriptors wait")
    }
    /// Returns when the bus drops what is for the peer: past 64.
    func hasMuted(by witness: BusStranger) async throws -> Bool {
        try await eventually { try await Self.waiting(for: victim, by: witness) > 64 }
    }
}

/// A loop whose thread stands, as one that the machine gives no time: until it is let go.
final class StandingLoop: Sendable {
    private let isFree = Atomic<Bool>(false)
    private let stands = Atomic<Bool>(false)
    private let job = Mutex<(@Sendable () -> Void)?>(nil)

    init(_ loop: BusLoop) async {
        loop.execute { [self] in
            stands.store(true, ordering: .releasing)
            while !isFree.load(ordering: .acquiring) {
                job.withLock { job in job.take() }?()
                usleep(500)
            }
        }
        #expect(await eventually { stands.load(ordering: .acquiring) })
    }
    /// Has something done in its turn, while it stands.
    func perform(_ body: @escaping @Sendable () -> Void) async {
        await withCheckedContinuation { continuation in
            job.withLock {
                $0 = {
                    body()
                    continuation.resume()
                }
            }
        }
    }
    func letGo() { isFree.store(true, ordering: .releasing) }
    deinit { letGo() }
}
