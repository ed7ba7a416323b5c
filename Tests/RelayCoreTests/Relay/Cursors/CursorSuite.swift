import Foundation
import RelayTestKit

@testable import RelayCore

/// What the suites on cursors share.
protocol CursorSuite {}
extension TestFolder {
    /// Where the cursors are, within this folder.
    static let scope = "/default/org.example.Service1"
    var scoped: String { path + Self.scope }
    /// What is there, sorted.
    var cursors: [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: scoped)) ?? []).sorted()
    }
    func writeCursor(_ text: String, to name: String) throws {
        try FileManager.default.createDirectory(atPath: scoped, withIntermediateDirectories: true)
        try write(text, to: String(Self.scope.dropFirst()) + "/" + name)
    }
}
extension CursorSuite {
    static var service: String { "org.example.Service1" }

    func store(
        _ folder: String, namespace: String? = nil, service: String = Self.service, faults: CursorFaults = .none,
        timing: RelayTiming.Cursors = RelayTiming.Cursors(),
        onFailure: @escaping @Sendable (String, RelayError) -> Void = { _, _ in }
    ) -> CursorStore {
        CursorStore(
            folder, namespace: namespace, service: service, timing: timing, faults: faults, onFailure: onFailure)
    }
    func message(_ body: () throws -> Void) -> String {
        do {
            try body()
            return "no error"
        } catch { return "\(error)" }
    }
}
