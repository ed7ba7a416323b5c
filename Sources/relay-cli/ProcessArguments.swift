import Glibc

/// The process's arguments as they are, not as Swift would repair them.
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
}
