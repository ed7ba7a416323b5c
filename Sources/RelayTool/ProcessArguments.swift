package import RelayCore

/// The process's arguments as they are, not as Swift would repair them.
package enum ProcessArguments {
    /// Without the program's name.
    ///
    /// Throws `InvalidArgument` when one is not UTF-8.
    package static func all() throws(RelayError) -> [String] {
        var arguments: [String] = []
        for index in 1..<max(1, Int(CommandLine.argc)) {
            // The array and its strings are the process's for as long as it runs.
            guard let pointer = CommandLine.unsafeArgv[index] else { continue }
            guard let text = String(validatingCString: pointer) else {
                throw RelayError(.invalidArgument, "an argument is not UTF-8; D-Bus has no other text")
            }
            arguments.append(text)
        }
        return arguments
    }
}
