import CRelayShims
import RelayCore

/// A page of words between two processes, 128 bytes apart: for progress, and for the bare hand-overs.
final class SharedWords: @unchecked Sendable {  // Atomic words.
    private let memory: SealedMemory
    private static let size = 16_384
    var descriptor: Int32 { memory.number }

    init() throws { memory = try SealedMemory(creating: "bench", size: Self.size, seals: .fixedSize) }
    init(receiving descriptor: Int32) throws {
        memory = try SealedMemory(receiving: descriptor, size: Self.size, seals: .fixedSize, writable: true)
    }
    @inline(__always) func address(_ place: Int) -> UnsafeMutableRawPointer { memory.base + 128 * place }
    @inline(__always) subscript(place: Int) -> UInt64 {
        get { relay_load_acquire(address(place)) }
        set { relay_store_release(address(place), newValue) }
    }
    func least(of places: Range<Int>) -> UInt64 { places.map { self[$0] }.min() ?? 0 }
}
