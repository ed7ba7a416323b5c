import CRelayShims
import CRingAttack
import Glibc
import RelayCore
import RelayTestKit
import Synchronization
import TestTraits
import Testing

/// Sleeping and waking within one process, by pages as two would have them.
@Suite("Waiting for a ring", .heavy, .tags(.g2)) struct WaitingTests {
    @Test("pages have their flags at different places, and wake by them", arguments: [0, 1, 31, 32, 77])
    func slots(slot: Int) async throws {
        let pair = try Pair(capacity: 1 << 16)
        let page = try WaitPage(slot: slot)
        pair.writer.attach(page)
        let waiter = try RingWaiter(receiving: page.descriptor)
        let area = try RingArea(receiving: pair.writer.descriptor)
        let sleeping = Task { try await follow([area], waiter, until: 200).sum() }
        for _ in 0..<200 {
            try pair.publish([1])
            // Lets it fall asleep now and then.
            await Task.yield()
        }
        #expect(try await sleeping.value == 200)
    }
    @Test("a peer's page tells how far it has come, whatever it says", arguments: [0, 15, 16, 31])
    func progress(slot: Int) throws {
        let page = try WaitPage(slot: slot)
        let waiter = try RingWaiter(receiving: page.descriptor)
        waiter.report(7, ringIndex: 0)
        #expect(page.progress(ringIndex: 0) == 0, "nobody looks at a page that has not settled")
        waiter.report(0, ringIndex: 0)
        #expect(WaitPage.seal(page.descriptor) && page.settle())
        #expect((0..<WaitPage.progressCount).allSatisfy { page.progress(ringIndex: $0) == 0 })
        for ringIndex in -1...WaitPage.progressCount { waiter.report(UInt64(1_000 + ringIndex), ringIndex: ringIndex) }
        for ringIndex in 0..<WaitPage.progressCount {
            #expect(page.progress(ringIndex: ringIndex) == UInt64(1_000 + ringIndex))
        }
        for ringIndex in [.min, -1, WaitPage.progressCount, .max] { #expect(page.progress(ringIndex: ringIndex) == 0) }
        // Not the flag.
        #expect(!waiter.wait(atMost: .zero, spinning: .none) { false })
    }
    @Test("a page that has settled stays where it is, for those who have mapped it") func settled() throws {
        let (page, other) = (try WaitPage(slot: 5), try WaitPage(slot: 6))
        let waiter = try RingWaiter(receiving: page.descriptor)
        #expect(attack_punch_hole(other.descriptor, WaitPage.size) == 0)
        #expect(!page.isSettled && !page.settle(), "its peer has not sealed it")
        #expect(WaitPage.seal(page.descriptor) && !page.isSettled && page.settle() && page.settle() && page.isSettled)
        for attack in [attack_punch_hole, attack_remove, attack_writable_mapping] {
            #expect(attack(page.descriptor, WaitPage.size) != 0)
        }
        #expect(throws: RelayError.self) { _ = try RingWaiter(receiving: page.descriptor) }
        waiter.report(7, ringIndex: 3)
        #expect(page.progress(ringIndex: 3) == 7)
        // Its peer sealed it in another way: F_SEAL_SEAL.
        #expect(relay_add_seals(other.descriptor, 1) == 0)
        #expect(!WaitPage.seal(other.descriptor) && !other.settle() && !other.isSettled)
    }
    @Test("one thread follows several rings, and a page serves several writers") func several() async throws {
        let pairs = try (0..<4).map { _ in try Pair(capacity: 1 << 16) }
        let page = try WaitPage(slot: 3)
        for pair in pairs { pair.writer.attach(page) }
        let waiter = try RingWaiter(receiving: page.descriptor)
        let areas = try pairs.map { try RingArea(receiving: $0.writer.descriptor) }
        let following = Task { try await follow(areas, waiter, until: 1_000) }
        for number in 0..<4_000 { try pairs[number % 4].publish([1]) }
        #expect(try await following.value == [1_000, 1_000, 1_000, 1_000])
    }
    @Test("many sleepers are woken by every event, none is forgotten") func many() async throws {
        let pair = try Pair(capacity: 1 << 16)
        let pages = try (0..<24).map { try WaitPage(slot: $0) }
        for page in pages { pair.writer.attach(page) }
        let area = try RingArea(receiving: pair.writer.descriptor)
        let rounds: UInt64 = 60
        let board = try ProgressBoardInProcess(count: pages.count)
        let following = Task {
            try await withThrowingTaskGroup { group in
                for (number, page) in pages.enumerated() {
                    group.addTask {
                        let waiter = try RingWaiter(receiving: page.descriptor)
                        return try await follow([area], waiter, until: rounds) { board.set(number, $0) }.sum()
                    }
                }
                return try await group.reduce(0, +)
            }
        }
        // Each event only after all have had the last one: a sleeper that is not woken holds everything up.
        for round in 1...rounds {
            try pair.publish([1])
            #expect(await eventually { board.least >= round })
        }
        #expect(try await following.value == 24 * rounds)
    }
    @Test("looks again and again only where events come soon") func spinning() throws {
        let page = try WaitPage(slot: 0)
        let waiter = try RingWaiter(receiving: page.descriptor)
        func looks(_ hasNews: Bool, spinning: RingWaiter.Spinning = .standard) -> Int {
            var count = 0
            let result = waiter.wait(atMost: .milliseconds(1), spinning: spinning) {
                count += 1
                return hasNews
            }
            #expect(result == hasNews)
            return count
        }
        // Besides, one before it sleeps and one for the answer.
        #expect(looks(false, spinning: .init(pauses: 100)) == 102)
        #expect(looks(false, spinning: .init(pauses: 100)) == 102, "so many are looked each time")
        #expect(looks(false, spinning: .none) == 2)
        for _ in 0..<20 { _ = looks(false) }
        #expect(looks(false) == 2, "events are rarer than a spin is long")
        #expect(looks(true) == 2, "it comes before it sleeps")
        for _ in 0..<20 { _ = looks(true) }
        #expect(looks(true) == (RingWaiter.Spinning.standard == .none ? 2 : 1), "events come at once")
    }
    @Test("an interrupt ends a wait, and does not count as news") func interrupt() async throws {
        let page = try WaitPage(slot: 0)
        let waiter = try RingWaiter(receiving: page.descriptor)
        let turns = Atomic(0)
        let mustEnd = Atomic(false)
        let thread = Task {
            try await onThread {
                while !mustEnd.load(ordering: .acquiring) {
                    #expect(!waiter.wait(spinning: .none) { false })
                    turns.add(1, ordering: .sequentiallyConsistent)
                }
            }
        }
        for turn in 1...20 {
            waiter.interrupt()
            #expect(await eventually { turns.load(ordering: .sequentiallyConsistent) >= turn })
        }
        mustEnd.store(true, ordering: .releasing)
        waiter.interrupt()
        try await thread.value
    }
    @Test("a page that was detached is looked at no more, one that is attached late is woken") func attaching()
        async throws
    {
        let pair = try Pair()
        let (page, other) = (try WaitPage(slot: 1), try WaitPage(slot: 2))
        pair.writer.attach(other)
        pair.writer.attach(other)
        pair.writer.detach(other)
        pair.writer.detach(other)
        try pair.publish([1])
        pair.writer.attach(page)
        let area = try RingArea(receiving: pair.writer.descriptor)
        let waiter = try RingWaiter(receiving: page.descriptor)
        #expect(try await follow([area], waiter, until: 1) == [1])
    }
}

/// Reads rings on a thread of its own until each has brought so many events.
func follow(
    _ areas: [RingArea], _ waiter: RingWaiter, until count: UInt64,
    progress: @escaping @Sendable (UInt64) -> Void = { _ in }
) async throws -> [UInt64] {
    try await onThread {
        let readers = areas.map { ReaderBox(RingReader($0, after: 0)) }
        while true {
            for reader in readers { try reader.drain() }
            progress(readers.map(\.count).min() ?? 0)
            if readers.allSatisfy({ $0.count >= count }) { return readers.map(\.count) }
            _ = waiter.wait(spinning: .none) { readers.contains { $0.hasNews } }
        }
    }
}
/// A reader among several: an array takes no value that cannot be copied.
private final class ReaderBox {
    private var reader: RingReader
    private(set) var count: UInt64 = 0
    init(_ reader: consuming RingReader) { self.reader = reader }
    var hasNews: Bool { reader.hasNews }
    func drain() throws { count += UInt64(try reader.drain().records.count) }
}
final class ProgressBoardInProcess: Sendable {
    private let values: Mutex<[UInt64]>
    init(count: Int) throws { values = Mutex([UInt64](repeating: 0, count: count)) }
    func set(_ place: Int, _ value: UInt64) { values.withLock { $0[place] = value } }
    var least: UInt64 { values.withLock { $0.min() ?? 0 } }
}
extension [UInt64] {
    func sum() -> UInt64 { reduce(0, +) }
}
