import RelayTool

/// For whom lines are written.
struct OutputStyle: Equatable, Sendable {
    var json = false
    /// Only for people, and only on a terminal.
    var hasColor = false
    /// Whether JSON lines say of which run an event is.
    var hasEpoch = false
    /// Of the terminal, in columns, for what is laid out as a page; nil: as much as it takes.
    var width: Int?
    /// The fields that are shown of an event, in their order; nil: all.
    var fields: [String]?

    /// Whether the locale's texts are UTF-8, as the C library finds out.
    static func isUTF8(_ environment: [String: String]) -> Bool {
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"].lazy.compactMap { environment[$0] }.first { !$0.isEmpty } ?? ""
        let encoding = locale.split(separator: ".").dropFirst().first?.prefix { $0 != "@" } ?? ""
        return ["utf-8", "utf8"].contains(encoding.lowercased())
    }
    /// https://no-color.org: NO_COLOR, when present and not empty, means no colour.
    static func choose(_ options: GlobalOptions, environment: [String: String], isTerminal: Bool, columns: Int? = nil)
        -> OutputStyle
    {
        let isRefused = !(environment["NO_COLOR"] ?? "").isEmpty || environment["TERM"] == "dumb"
        return OutputStyle(
            json: options.json, hasColor: !options.json && isTerminal && options.allowsColor && !isRefused,
            width: columns)
    }
}

/// What the program does to its terminal: all of an escape sequence behind the ESC, for which `TerminalDoor` has a byte.
struct TerminalCode {
    let tail: StaticString
    init(_ tail: StaticString) { self.tail = tail }
}

/// The terminal's own colours, so that they suit its background.
enum Color {
    static let time = TerminalCode("[2m")
    static let event = TerminalCode("[1m")
    static let field = TerminalCode("[36m")
    static let gap = TerminalCode("[33m")
    static let failure = TerminalCode("[31m")
    static let reset = TerminalCode("[0m")
}

extension ByteBuffer {
    /// For a terminal, by way of `TerminalDoor`.
    mutating func append(_ code: TerminalCode) {
        append(byte: TerminalDoor.escape)
        append(code.tail)
    }
}
