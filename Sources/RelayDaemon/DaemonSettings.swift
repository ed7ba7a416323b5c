package import RelayTool

/// What the files of a configuration set.
package struct DaemonSettings: CustomStringConvertible {
    /// In the order in which they were read.
    package let files: [String]
    private let keys: ConfigurationKeys
    private let settings: [ConfigurationKeys.Setting]

    /// Throws `ConfigurationError` with what is wrong and where, also when there is no file at all.
    package init(_ search: ConfigurationSearch, _ keys: ConfigurationKeys) throws(ConfigurationError) {
        files = try search.requiredFiles()
        self.keys = keys
        settings = try keys.settings(of: try ConfigurationSearch.assignments(of: files))
    }

    /// To be put before what was typed: without the options that were typed, some of which add up.
    package func arguments(below typed: ParsedLine) -> [String] {
        let given = typed.given
        return settings.filter { !given.contains($0.option) }.map(\.argument)
    }

    /// As one file would set it: the files' names, then what holds of them.
    package var description: String {
        (files.map { "# \($0)" } + ["[\(keys.section)]"] + settings.map { "\($0.key)=\($0.value)" })
            .map { MessageText.line($0) + "\n" }.joined()
    }
}
