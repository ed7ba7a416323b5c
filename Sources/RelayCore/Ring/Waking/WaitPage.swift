import CRelayShims
import Synchronization

/// A service's side of one peer's wait page: where the peer shows that it sleeps.
///
/// The peer can write anything there at any time: it is read for one bit, whether to wake, and that at most once in 50
/// µs; and for how far the peer claims to have come, which is shown to people, and relied on by nothing.
///
/// It must not be touched before it is settled: until then the peer can take the page out of the file, and a thread
/// that touches it meanwhile waits in the kernel until that is done, for seconds when the peer has the lowest priority
/// of a busy machine. The peer seals it, on a thread of its own that may wait: the file's lock is the peer's to hold.
/// The service only looks.
package final class WaitPage: Sendable {
    package static let size = 4_096
    /// Words of the first line, which show the peer where its flag is; written once, never read back.
    package static let versionOffset = 64
    package static let flagOffsetOffset = 72
    /// How many of a service's rings have a word of progress.
    package static let progressCount = 240
    package static let version: UInt64 = 0x3152_4559_414C_5257
    /// Between two calls for a page, in nanoseconds.
    static let interval: UInt64 = 50_000

    private let memory: SealedMemory
    /// Not 0: the peer sleeps, or is about to.
    nonisolated(unsafe) let flag: UnsafeMutableRawPointer  // Only by relay_load32 and relay_store32.
    nonisolated(unsafe) private let progress: UnsafeMutableRawPointer  // Only by relay_load.
    private let hasSettled = Atomic(false)
    private let isClaimed = Atomic(false)
    private let lastWake = Atomic<UInt64>(0)

    /// To be handed to the peer; open as long as the page lives.
    package var descriptor: Int32 { memory.number }

    /// - Parameter slot: a number of its own among the service's pages: flags at one place in many pages would share a
    ///   set of the processor's cache.
    package init(slot: Int) throws(RelayError) {
        let offset = (slot & 31) * 128
        memory = try SealedMemory(creating: "relay-wait", size: Self.size, seals: .fixedSize) { page in
            page.storeBytes(of: Self.version, toByteOffset: Self.versionOffset, as: UInt64.self)
            page.storeBytes(of: UInt64(offset), toByteOffset: Self.flagOffsetOffset, as: UInt64.self)
        }
        flag = memory.base + offset
        progress = memory.base + Self.progressOffset(flag: offset)
    }
    /// Where the words of progress are: in the half of the page where the flag is not, and not in its first line.
    static func progressOffset(flag: Int) -> Int { flag >= size / 2 ? 128 : size / 2 }

    /// Looks whether the peer has mapped and sealed it: then nobody else can, and its one page stays where it is.
    /// Returns whether that holds, which a peer can prevent, to its own harm. Idempotent; never waits.
    package func settle() -> Bool {
        if isSettled { return true }
        guard SealedMemory.hasSeals(memory.number, .settled) else { return false }
        hasSettled.store(true, ordering: .releasing)
        return true
    }
    /// The peer's part, when it has mapped the page. Waits as long as somebody holds the file's lock: never on a loop.
    /// Returns whether it is sealed.
    package static func seal(_ descriptor: Int32) -> Bool {
        _ = relay_add_seals(descriptor, MemorySeals.settled.rawValue)
        return SealedMemory.hasSeals(descriptor, .settled)
    }
    package var isSettled: Bool { hasSettled.load(ordering: .acquiring) }

    /// The last sequence of a ring that the peer claims to have delivered; 0 while it has claimed nothing.
    package func progress(ringIndex: Int) -> UInt64 {
        0..<Self.progressCount ~= ringIndex && isSettled ? relay_load(progress + 8 * ringIndex) : 0
    }

    var isFlagged: Bool { relay_load32(flag) != 0 }
    /// When the peer may be woken next.
    var due: UInt64 { lastWake.load(ordering: .relaxed) &+ Self.interval }

    /// The waker's thread keeps it until it is due.
    var isTaken: Bool { isClaimed.load(ordering: .relaxed) }
    /// Whether the waking is now the caller's affair, to be ended by `wake`.
    func claim() -> Bool { !isClaimed.exchange(true, ordering: .sequentiallyConsistent) }

    func wake(at now: UInt64) {
        // Before the flag is read: a thread that finds it claimed relies on a later read.
        isClaimed.store(false, ordering: .sequentiallyConsistent)
        relay_fence_full()
        guard isFlagged else { return }
        lastWake.store(now, ordering: .relaxed)
        // Cleared before the call: a thread that is not asleep yet finds it changed, and does not fall asleep.
        relay_store32(flag, 0)
        _ = relay_futex_wake(flag, 1)
    }
}
