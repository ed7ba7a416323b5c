import Glibc

/// The process's arguments and environment as they are, not as Swift would repair them.
enum ProcessArguments {
    /// Without the program's name; nil when one is not UTF-8.
    static func all() -> [String]? {
        var arguments: [String] = []
        for index in 1..<max(1, Int(CommandLine.argc)) {
            guard let pointer = CommandLine.unsafeArgv[index] else { continue }
            guard let text = String(validatingCString: pointer) else { return nil }
            arguments.append(text)
        }
        return arguments
    }

    /// What the tool looks at.
    static func environment() -> [String: String] {
        var environment: [String: String] = [:]
        for name in ["DBUS_SESSION_BUS_ADDRESS", "XDG_RUNTIME_DIR", "TMPDIR", "NO_COLOR", "TERM"] {
            if let value = getenv(name) { environment[name] = String(cString: value) }
        }
        return environment
    }
}
