import RelayCore
import Synchronization

/// What a `MemoryLog` keeps, by interface.
package final class MemoryLogStore: Sendable {
    private let streams = Mutex<[String: MemoryStream]>([:])

    init() {}

    /// Changes all interfaces in one step.
    func change<Result: Sendable>(_ body: (inout [String: MemoryStream]) -> Result) -> Result {
        streams.withLock { body(&$0) }
    }
    /// An interface as it stands.
    func stream(_ name: String) -> MemoryStream { streams.withLock { $0[name] } ?? MemoryStream() }
}
