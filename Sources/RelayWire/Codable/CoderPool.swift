import Synchronization

/// What reads or writes values by a plan, one after the other.
package protocol WireCoder: AnyObject {
    init(_ plan: WirePlan)
}

/// Keeps coders of a plan between two values: their containers serve the next value of the same type again, and making
/// them costs more than a small event does.
package final class CoderPool<Coder: WireCoder>: @unchecked Sendable {  // Who takes a coder is alone with it.
    /// As many as threads that have one at a time, most often.
    private let kept = InlineArray<8, Atomic<Unmanaged<Coder>?>> { _ in Atomic(nil) }
    private let plan: WirePlan

    init(_ plan: WirePlan) { self.plan = plan }
    deinit { for index in kept.indices { kept[index].load(ordering: .acquiring)?.release() } }

    /// One that nobody else has, with its reference count: it goes back by `keep`, or is released.
    @inline(__always) package func take() -> Unmanaged<Coder> {
        for index in kept.indices where kept[index].load(ordering: .relaxed) != nil {
            if let taken = kept[index].exchange(nil, ordering: .acquiring) { return taken }
        }
        return .passRetained(Coder(plan))
    }
    @inline(__always) package func keep(_ coder: Unmanaged<Coder>) {
        for index in kept.indices where kept[index].load(ordering: .relaxed) == nil {
            if kept[index].compareExchange(expected: nil, desired: coder, ordering: .releasing).exchanged { return }
        }
        coder.release()
    }
}
