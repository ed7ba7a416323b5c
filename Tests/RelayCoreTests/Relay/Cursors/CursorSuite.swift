import RelayTestKit

@testable import RelayCore

/// What the suites on cursors share.
protocol CursorSuite {}
extension CursorSuite {
    static var service: String { "org.example.Service1" }

    func store(
        _ folder: String, service: String = Self.service, faults: CursorFaults = .none,
        timing: RelayTiming.Cursors = RelayTiming.Cursors(),
        onFailure: @escaping @Sendable (String, RelayError) -> Void = { _, _ in }
    ) -> CursorStore {
        CursorStore(folder, service: service, timing: timing, faults: faults, onFailure: onFailure)
    }
    func message(_ body: () throws -> Void) -> String {
        do {
            try body()
            return "no error"
        } catch { return "\(error)" }
    }
}
