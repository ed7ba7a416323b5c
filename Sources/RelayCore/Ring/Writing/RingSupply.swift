import CRelayShims
import Glibc
import Synchronization

/// How much of a ring has memory. A new ring has a little; each further part gets it before it is written for the first
/// time: so an interface that publishes little takes little.
///
/// Once there, memory stays. Whoever writes into a page without memory would be ended if there were none to be had: so
/// nothing is written beyond `end`, and a ring that cannot get more has ended.
package final class RingSupply: Sendable {
    /// Gives pages their memory: `relay_supply`, or a test's.
    package typealias Source = @Sendable (UnsafeMutableRawPointer, Int) -> Int32

    /// So much at once, which takes about ten microseconds; a whole number of pages, and of what a reader's page fault
    /// maps at once.
    package static let step = 64 << 10
    /// What a new ring has, of its data.
    static func beginning(_ capacity: Int) -> Int { min(step, capacity) }

    nonisolated(unsafe) private let data: UnsafeMutableRawPointer  // Its pages, not what they hold.
    private let source: Source
    /// All that can ever be written: the first view of the data, and as much of the second as a record may reach into.
    private let whole: UInt64
    /// No position reaches this: all have memory. Not `UInt64.max`, since Swift's atomic maximum of unsigned numbers
    /// compares them as signed ones.
    static let all = UInt64(Int64.max)
    /// Positions below this have memory.
    private let supplied: Atomic<UInt64>
    private let isAsked = Atomic(false)
    private let failure = Atomic<Int32>(0)

    init(_ area: RingArea, _ source: @escaping Source) {
        let page = Int(getpagesize())
        let capacity = area.header.capacity
        let largest = RingLayout.recordSize(RingLayout.maximumPayload(capacity))
        (data, self.source) = (area.data, source)
        whole = UInt64(capacity + (largest + page - 1) & ~(page - 1))
        supplied = Atomic(UInt64(Self.beginning(capacity)))
    }

    /// Records may be written that end up to here.
    var end: UInt64 { supplied.load(ordering: .acquiring) }
    /// From here on it is time to get more: half of the last step is left, in which others can write meanwhile.
    var low: UInt64 {
        let end = end
        return end == Self.all ? end : end - min(end, UInt64(Self.step / 2))
    }
    /// Why there was none to be had, when there was none.
    var error: SystemError? {
        let code = failure.load(ordering: .acquiring)
        return code == 0 ? nil : SystemError(code)
    }

    /// Gets what a record needs that ends there, at once. Returns false when there is none to be had. For the writer.
    func ensure(through position: UInt64) -> Bool {
        while end < position {
            if let code = extend(from: end) {
                failure.store(code, ordering: .releasing)
                return false
            }
        }
        return true
    }
    /// More will be needed soon. For the writer.
    func ask() { isAsked.store(true, ordering: .relaxed) }
    /// Gets what was asked for, while others write. What cannot be had now is tried again when it is needed. Any thread.
    func fetch() {
        guard isAsked.load(ordering: .relaxed), isAsked.exchange(false, ordering: .relaxed) else { return }
        let start = end
        if start != Self.all { _ = extend(from: start) }
    }
    /// The next step. Several threads may do it at once: the memory is there once. Returns why not.
    private func extend(from start: UInt64) -> Int32? {
        let next = min(start + UInt64(Self.step), whole)
        let code = source(data + Int(start), Int(next - start))
        if code != 0 { return code }
        supplied.max(next == whole ? Self.all : next, ordering: .acquiringAndReleasing)
        return nil
    }
}
