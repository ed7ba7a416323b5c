import CRelayShims
import CRingAttack
import Glibc
import RelayCore
import RingSupport

/// What the tests of the ring start as other processes. Descriptor 3 is a ring, 4 a wait page, 5 a board, where there are any.
@main struct RingPeer {
    static let (ring, page, board): (Int32, Int32, Int32) = (3, 4, 5)

    static func main() {
        let arguments = Array(CommandLine.arguments.dropFirst())
        do {
            switch arguments.first {
            case "read":
                try Following(
                    number: Int(arguments[1]) ?? 0, hasBoard: arguments.contains("board"),
                    keepsTimes: arguments.contains("times"), isLazy: arguments.contains("lazy")
                ).run()
            case "attack": attack()
            case "insist": insist()
            case "burn": try burn()
            case "futexes": try futexes()
            case "garbage": try garbage()
            case "holes": try holes()
            case "lazyholes":
                // SCHED_IDLE, which Glibc's module does not show: whoever waits for this one waits long.
                var parameter = sched_param()
                guard sched_setscheduler(0, 5, &parameter) == 0 else { exit(71) }
                try holes()
            case "asleep": try asleep()
            case "die": try die(at: Int(arguments[1]) ?? 0)
            default: exit(64)
            }
        } catch {
            say("error", error)
            exit(1)
        }
    }

    /// What the kernel answers to every way of changing the ring.
    static func results() -> [(String, Int32)] {
        let size = Int((try? SealedMemory.checkedSize(of: ring, seals: .readOnly)) ?? 0)
        return [
            ("writable mapping", attack_writable_mapping(ring, size)), ("mprotect", attack_mprotect(ring, size)),
            ("write", attack_write(ring)), ("shrink", attack_truncate(ring, 4_096)),
            ("grow", attack_truncate(ring, size + 4_096)), ("hole", attack_punch_hole(ring, size)),
            ("remove", attack_remove(ring, size)), ("reopen", attack_reopen(ring)), ("seals", attack_seals(ring)),
            ("shrink page", attack_truncate(page, 0)), ("grow page", attack_truncate(page, 8_192)),
            ("hole in page", attack_punch_hole(page, WaitPage.size)),
            ("remove page", attack_remove(page, WaitPage.size)),
            ("page once more", attack_writable_mapping(page, WaitPage.size)), ("write page", attack_write(page)),
        ]
    }
    /// Says it.
    static func attack() {
        say("ready")
        awaitPush()
        for (name, code) in results() { say(code == 0 ? "SUCCEEDED" : "refused", name, code) }
        say("done")
        // Keeps the descriptors, and never reads.
        while true { pause() }
    }
    /// Tries again, for ever.
    static func insist() {
        say("ready")
        while true { _ = results() }
    }
    /// Takes a processor as the attackers do, with system calls of their kind, and touches nothing that is another's.
    static func burn() throws {
        let own = try SealedMemory(creating: "burnt", size: WaitPage.size, seals: .fixedSize)
        say("ready")
        while true {
            _ = attack_punch_hole(own.number, WaitPage.size)
            for offset in stride(from: 0, to: WaitPage.size, by: 128) { _ = attack_wake(own.base + offset) }
        }
    }
    /// Moves and wakes whoever it can reach, for ever.
    static func futexes() throws {
        let area = try RingArea(receiving: ring)
        let own = try SealedMemory(receiving: page, size: WaitPage.size, seals: .fixedSize, writable: true)
        say("ready")
        while true {
            for offset in stride(from: 0, to: RingLayout.directoryStart, by: 64) {
                _ = attack_requeue(area.memory.base + offset, own.base)
                _ = attack_requeue(own.base, area.memory.base + offset)
                _ = attack_wake(area.memory.base + offset)
            }
            for offset in stride(from: 0, to: WaitPage.size, by: 128) { _ = attack_wake(own.base + offset) }
        }
    }
    /// Writes everywhere into its wait page, for ever.
    static func garbage() throws {
        let own = try SealedMemory(receiving: page, size: WaitPage.size, seals: .fixedSize, writable: true)
        var random = SystemRandomNumberGenerator()
        say("ready")
        while true {
            for offset in stride(from: 0, to: WaitPage.size, by: 8) {
                relay_store(own.base + offset, random.next() | 1)
            }
        }
    }
    /// Tries to take the memory of its wait page away, for ever.
    static func holes() throws {
        say("ready")
        while true { _ = (attack_punch_hole(page, WaitPage.size), attack_remove(page, WaitPage.size)) }
    }
    /// Sleeps whenever it is woken, and reads nothing.
    static func asleep() throws {
        let waiter = try RingWaiter(receiving: page)
        say("ready")
        while true { _ = waiter.wait(spinning: .none) { false } }
    }

    static func awaitPush() {
        var byte: UInt8 = 0
        _ = read(STDIN_FILENO, &byte, 1)
    }
    /// Makes a ring, says where it is, and dies in the middle of a publish.
    static func die(at moment: Int) throws {
        let header = try RingHeader(
            epoch: 1, base: 0, capacity: KillPayload.capacity,
            events: [RingEvent(name: "Killed")])
        let area = try RingArea(creating: "ring-killed", header)
        var pen = RecordWriter(area)
        for sequence in 1...UInt64(KillPayload.before) {
            KillPayload.bytes(sequence).withUnsafeBytes {
                _ = pen.write(KillPayload.stamp(sequence), kind: 0, $0) { _ in }
            }
        }
        say("ring", area.memory.number)
        awaitPush()
        let last = UInt64(KillPayload.before) + 1
        KillPayload.bytes(last).withUnsafeBytes {
            _ = pen.write(KillPayload.stamp(last), kind: 0, $0) { reached in
                if reached.rawValue == moment { kill(getpid(), SIGKILL) }
            }
        }
        say("alive")
    }
}
