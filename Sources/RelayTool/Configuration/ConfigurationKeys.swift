/// Which options of a command line a configuration may set, too: the key of `--log-level` is `LogLevel`.
package struct ConfigurationKeys: Sendable {
    /// Without the brackets.
    package let section: String
    package let options: [any DeclaredOption]

    package init(section: String, _ options: [any DeclaredOption]) { (self.section, self.options) = (section, options) }

    /// `LogLevel` for `log-level`
    package static func key(of option: any DeclaredOption) -> String {
        option.name.split(separator: "-").map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
    }

    /// The assignments as the arguments of a command line, to be put before those that were typed, which so prevail.
    ///
    /// Of several assignments to a key the last one counts. An empty value takes back what stands before it.
    /// - Throws: `ConfigurationError` with file and line for a section or a key that is unknown, and for a value that
    ///   the option does not take.
    package func arguments(of assignments: [ConfigurationFile.Assignment]) throws(ConfigurationError) -> [String] {
        var arguments: [(key: String, argument: String)] = []
        for assignment in assignments {
            guard assignment.section == section else {
                throw ConfigurationError(
                    assignment.place, "unknown section [\(assignment.section)]; there is [\(section)]")
            }
            guard let option = options.first(where: { Self.key(of: $0) == assignment.key }) else {
                let keys = options.map { Self.key(of: $0) }
                let hint = NearMiss.hint(for: assignment.key, among: keys)
                throw ConfigurationError(
                    assignment.place,
                    "unknown key '\(assignment.key)'" + (hint.isEmpty ? "; there are \(Words.list(keys))" : hint))
            }
            arguments.removeAll { $0.key == assignment.key }
            if let argument = try Self.argument(of: option, assignment) {
                arguments.append((assignment.key, argument))
            }
        }
        return arguments.map(\.argument)
    }

    /// nil: the option is absent.
    private static func argument(
        of option: any DeclaredOption, _ assignment: ConfigurationFile.Assignment
    ) throws(ConfigurationError) -> String? {
        if assignment.value.isEmpty { return nil }
        guard option.argument != nil else {
            switch assignment.value.lowercased() {
            case "yes", "true", "on", "1": return "--\(option.name)"
            case "no", "false", "off", "0": return nil
            default:
                throw ConfigurationError(
                    assignment.place, "\(assignment.key): '\(assignment.value)' is neither yes nor no")
            }
        }
        do throws(UsageError) { _ = try option.value(of: assignment.value) } catch {
            // The option's own words, without its name, which nobody has typed.
            let typed = "option '--\(option.name)': "
            let reason = error.message.hasPrefix(typed) ? String(error.message.dropFirst(typed.count)) : error.message
            throw ConfigurationError(assignment.place, "\(assignment.key): \(reason)")
        }
        return "--\(option.name)=\(assignment.value)"
    }
}
