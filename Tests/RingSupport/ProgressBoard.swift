import CRelayShims
package import RelayCore

/// Where readers say how far they are, for a publisher under test that waits for them: the ring itself never does.
package final class ProgressBoard: @unchecked Sendable {  // Words that are read and written as atomic ones.
    private let memory: SealedMemory
    private static let size = 4_096

    package var descriptor: Int32 { memory.number }

    package init() throws(RelayError) {
        memory = try SealedMemory(creating: "ring-progress", size: Self.size, seals: .fixedSize)
    }
    package init(receiving descriptor: Int32) throws(RelayError) {
        memory = try SealedMemory(receiving: descriptor, size: Self.size, seals: .fixedSize, writable: true)
    }
    package subscript(reader: Int) -> UInt64 {
        get { relay_load_acquire(memory.base + 128 * reader) }
        set { relay_store_release(memory.base + 128 * reader, newValue) }
    }
    package func least(of readers: Int) -> UInt64 { (0..<readers).map { self[$0] }.min() ?? .max }
}
