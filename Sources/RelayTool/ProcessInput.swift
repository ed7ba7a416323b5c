import Glibc

/// What a program is started with, read once and handed on as values.
package enum ProcessInput {
    /// The arguments without the program's name, as they are, not as Swift would repair them.
    ///
    /// Throws when one is not UTF-8.
    package static func arguments() throws(UsageError) -> [String] {
        var arguments: [String] = []
        for index in 1..<max(1, Int(CommandLine.argc)) {
            // The array and its strings are the process's for as long as it runs.
            guard let pointer = CommandLine.unsafeArgv[index] else { continue }
            guard let text = String(validatingCString: pointer) else {
                throw UsageError("argument \(index) is not UTF-8; D-Bus has no other text")
            }
            arguments.append(text)
        }
        return arguments
    }

    package static var environment: [String: String] {
        var result: [String: String] = [:]
        var next = environ
        while let entry = next.pointee {
            let text = String(cString: entry)
            if let equals = text.firstIndex(of: "=") {
                result[String(text[..<equals])] = String(text[text.index(after: equals)...])
            }
            next += 1
        }
        return result
    }
}
