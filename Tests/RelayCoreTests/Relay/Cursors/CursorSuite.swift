import Dispatch
import RelayTestKit

@testable import RelayCore

/// What the suites on cursors share.
protocol CursorSuite {}
extension CursorSuite {
    static var service: String { "org.example.Service1" }

    func store(
        _ folder: String, service: String = Self.service, faults: CursorFaults = .none,
        syncDelay: DispatchTimeInterval = .seconds(5),
        onFailure: @escaping @Sendable (String, RelayError) -> Void = { _, _ in }
    ) -> CursorStore {
        CursorStore(folder, service: service, faults: faults, syncDelay: syncDelay, onFailure: onFailure)
    }
    func message(_ body: () throws -> Void) -> String {
        do {
            try body()
            return "no error"
        } catch { return "\(error)" }
    }
}
