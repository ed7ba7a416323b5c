import Glibc

/// Where the programs under test are: beside the test bundle, as the build left them.
package enum Programs {
    package static var service: String { folder + "/relay-service" }
    package static var cli: String { folder + "/relay-cli" }
    package static var bridge: String { folder + "/relay-bridge" }

    package static var folder: String {
        // The tests are a bundle that SwiftPM's helper loads: the helper's own place is of no use.
        let bundle = CommandLine.arguments.first { $0.hasSuffix(".xctest") } ?? ".build/debug/none"
        return String(bundle.prefix(upTo: bundle.lastIndex(of: "/") ?? bundle.endIndex))
    }

    /// Our environment without any bus and any place for state, and with these additions: what a program sees that is
    /// given both by options. What forgets to must not write into the tester's home.
    package static func environment(_ additions: [String: String] = [:]) -> [String: String] {
        var result: [String: String] = [:]
        for name in ["PATH", "LANG", "TMPDIR", "LD_LIBRARY_PATH", "DBUS_FATAL_WARNINGS", "SWIFT_BACKTRACE"] {
            if let value = getenv(name) { result[name] = String(cString: value) }
        }
        return result.merging(additions) { $1 }
    }
}
