package import RelayEvents
import Synchronization
/// A list that several threads write.
package final class Log<Value: Sendable>: Sendable {
    private let state = Mutex<[Value]>([])
    package init() {}
    package func add(_ value: Value) { state.withLock { $0.append(value) } }
    package var values: [Value] { state.withLock { $0 } }
    package var count: Int { state.withLock { $0.count } }
}

/// Holds a subscription for its own handler.
package final class Holder<Value: Sendable>: Sendable {
    private let state = Mutex<Value?>(nil)
    package init() {}
    package func hold(_ value: Value?) {
        let old = state.withLock { held in
            defer { held = value }
            return held
        }
        withExtendedLifetime(old) {}
    }
    package var value: Value? { state.withLock { $0 } }
}

package func text(_ gap: Gap) -> String {
    "gap \(gap.sequences) (\(gap.count.map { "\($0)" } ?? "?"), \(gap.reason.rawValue))"
}
