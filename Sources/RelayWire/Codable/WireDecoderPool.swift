import Synchronization

/// Keeps one decoder of a plan between two values: its containers serve the next value of the same type again, and
/// making them costs more than reading a small event.
package final class WireDecoderPool: @unchecked Sendable {  // Who takes a decoder is alone with it.
    private let kept = Atomic<Unmanaged<WireDecoder>?>(nil)
    private let plan: WirePlan

    init(_ plan: WirePlan) { self.plan = plan }
    deinit { kept.load(ordering: .acquiring)?.release() }

    /// One that nobody else has, with its reference count: it goes back by `keep`, or is released.
    @inline(__always) package func take() -> Unmanaged<WireDecoder> {
        kept.exchange(nil, ordering: .acquiring) ?? .passRetained(WireDecoder(plan))
    }
    @inline(__always) package func keep(_ decoder: Unmanaged<WireDecoder>) {
        kept.exchange(decoder, ordering: .acquiringAndReleasing)?.release()
    }
}
