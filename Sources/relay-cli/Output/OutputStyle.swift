/// For whom lines are written.
struct OutputStyle: Equatable, Sendable {
    var json = false
    /// Only for people, and only on a terminal.
    var hasColor = false
    /// Whether JSON lines say of which run an event is.
    var hasEpoch = false

    /// https://no-color.org: NO_COLOR, when present and not empty, means no colour.
    static func choose(_ options: GlobalOptions, environment: [String: String], isTerminal: Bool) -> OutputStyle {
        let isRefused = !(environment["NO_COLOR"] ?? "").isEmpty || environment["TERM"] == "dumb"
        return OutputStyle(
            json: options.json, hasColor: !options.json && isTerminal && options.allowsColor && !isRefused)
    }
}
