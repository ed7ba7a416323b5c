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

    /// A key that is set, and what stands for it on a command line.
    package struct Setting: Equatable, Sendable {
        /// `LogLevel`
        package let key: String
        package let value: String
        /// The option's name: `log-level`
        package let option: String
        /// `--log-level=debug`
        package let argument: String
    }

    /// What the assignments set: the last one of each key.
    ///
    /// An empty value takes back what stands before it, and so does a `no`.
    /// - Throws: `ConfigurationError` with file and line for a section or a key that is unknown, and for a value that
    ///   the option does not take.
    package func settings(of assignments: [ConfigurationFile.Assignment]) throws(ConfigurationError) -> [Setting] {
        var settings: [Setting] = []
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
            settings.removeAll { $0.key == assignment.key }
            if let argument = try Self.argument(of: option, assignment) {
                settings.append(
                    Setting(key: assignment.key, value: assignment.value, option: option.name, argument: argument))
            }
        }
        return settings
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
