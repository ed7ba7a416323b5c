/// What is wrong with a configuration: the file, the line, and what to do.
package struct ConfigurationError: Error, Equatable, Sendable {
    package let message: String

    package init(_ message: String) { self.message = message }
    init(_ place: ConfigurationFile.Place, _ reason: String) { message = "\(place): \(reason)" }
}

/// The assignments of one INI file, in the form that systemd's files have (systemd.syntax(7)).
///
/// Pure: it is given the text. A line is `[Section]`, `Key=value`, a comment that begins with `#` or `;`, or empty. A
/// backslash at a line's end joins the next line to it, with a blank between.
package struct ConfigurationFile: Equatable, Sendable {
    /// Where an assignment stands: `/etc/eventrelay/relay-service.conf:12`.
    package struct Place: Equatable, Sendable, CustomStringConvertible {
        package let file: String
        /// From 1.
        package let line: Int
        package var description: String { "\(file):\(line)" }
    }
    package struct Assignment: Equatable, Sendable {
        package let section: String
        package let key: String
        package let value: String
        package let place: Place
    }

    package private(set) var assignments: [Assignment] = []

    /// - Parameter name: what messages call the file.
    /// - Throws: `ConfigurationError` with file and line for what is neither of these lines.
    package init(_ text: String, name: String) throws(ConfigurationError) {
        var section: String?
        for (number, line) in Self.joined(text) {
            let place = Place(file: name, line: number)
            if line.hasPrefix("[") {
                guard line.hasSuffix("]"), line.count > 2 else {
                    throw ConfigurationError(place, "'\(line)' is no section; one looks like [Service]")
                }
                section = String(line.dropFirst().dropLast())
                continue
            }
            guard let equals = line.firstIndex(of: "="), equals > line.startIndex else {
                throw ConfigurationError(place, "'\(line)' is no assignment; one looks like Key=value")
            }
            if line.unicodeScalars.contains("\u{0}") { throw ConfigurationError(place, "the line has a NUL") }
            guard let section else {
                throw ConfigurationError(place, "'\(line)' stands before any section; begin with [Service]")
            }
            assignments.append(
                Assignment(
                    section: section, key: Self.trimmed(line[..<equals]),
                    value: Self.trimmed(line[line.index(after: equals)...]), place: place))
        }
    }

    /// The lines that say something, without the blanks around them, each with the number of its first part.
    private static func joined(_ text: String) -> [(number: Int, line: String)] {
        var lines: [(number: Int, line: String)] = []
        var begun: (number: Int, line: String)?
        // systemd, too, passes over the byte order mark with which some editors begin a file.
        let isMarked = text.unicodeScalars.first == "\u{FEFF}"
        let unmarked = isMarked ? String(text.unicodeScalars.dropFirst()) : text
        let rows = unmarked.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
        for (index, raw) in rows.enumerated() {
            var part = trimmed(raw)
            // Within a joined line, too, comments are left out.
            if part.hasPrefix("#") || part.hasPrefix(";") { continue }
            let goesOn = part.hasSuffix("\\")
            if goesOn { part = trimmed(part.dropLast()) }
            let line = begun.map { ($0.number, [$0.line, part].filter { !$0.isEmpty }.joined(separator: " ")) }
            begun = nil
            if goesOn {
                begun = line ?? (index + 1, part)
            } else {
                lines.append(line ?? (index + 1, part))
            }
        }
        if let begun { lines.append(begun) }
        return lines.filter { !$0.line.isEmpty }
    }
    private static func trimmed(_ text: some StringProtocol) -> String {
        let isBlank: (Character) -> Bool = { $0 == " " || $0 == "\t" || $0 == "\r" }
        let start = text.drop(while: isBlank)
        return String(start[..<(start.lastIndex { !isBlank($0) }.map { start.index(after: $0) } ?? start.startIndex)])
    }
}
