import CRelayVersion
import RelayCore

/// What the programs call themselves.
package enum Version {
    package static let current = RelayVersion.current

    /// `0.1.0 (commit 1a2b3c4d5e6f, Swift 6.3.1)`: a program that was not released has the number alone.
    package static var text: String {
        // Strings of the program's own, which stay.
        text(
            commit: relay_commit().map { String(cString: $0) }, toolchain: relay_toolchain().map { String(cString: $0) }
        )
    }
    static func text(commit: String?, toolchain: String?) -> String {
        let parts = [commit.map { "commit \($0)" }, toolchain].compactMap { $0 }
        return parts.isEmpty ? current : "\(current) (\(parts.joined(separator: ", ")))"
    }
}
