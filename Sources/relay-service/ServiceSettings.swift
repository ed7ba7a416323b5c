import RelayTool

/// What the files of a configuration set.
struct ServiceSettings: CustomStringConvertible {
    /// In the order in which they were read.
    let files: [String]
    private let settings: [ConfigurationKeys.Setting]

    /// Throws `ConfigurationError` with what is wrong and where, also when there is no file at all.
    init(_ search: ConfigurationSearch) throws(ConfigurationError) {
        files = try search.requiredFiles()
        settings = try ServiceOptions.keys.settings(of: try ConfigurationSearch.assignments(of: files))
    }

    /// To be put before what was typed: without the options that were typed, some of which add up.
    func arguments(below typed: ParsedLine) -> [String] {
        let given = typed.given
        return settings.filter { !given.contains($0.option) }.map(\.argument)
    }

    /// As one file would set it: the files' names, then what holds of them.
    var description: String {
        (files.map { "# \($0)" } + ["[\(ServiceOptions.keys.section)]"] + settings.map { "\($0.key)=\($0.value)" })
            .map { MessageText.line($0) + "\n" }.joined()
    }
}
