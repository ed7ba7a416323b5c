/// A D-Bus service file: how a bus starts the owner of a name.
///
/// It is read as a bus reads it: groups, keys and values have the case that they are written with, blanks around a key and
/// a value do not count, and of two lines with one key the last one does.
struct ServiceFile: Equatable, Sendable {
    /// How `relay-cli` counts a service.
    enum Kind: Equatable, Sendable {
        /// `X-Relay=true`: a service of Relay.
        case relay
        /// `X-Relay=secondary`: one of Relay that is meant only where it is named, or the only one.
        case secondary
        case other
    }
    var kind = Kind.other
    /// The unit that systemd starts for the bus.
    var unit: String?
    /// The command line that a bus without systemd runs.
    var exec: String?

    init(_ text: String) {
        var section = ""
        for line in text.split(whereSeparator: \.isNewline) {
            let line = line.trimmed
            if line.hasPrefix("[") { section = String(line) }
            guard section == "[D-BUS Service]", !line.hasPrefix("#"), let equals = line.firstIndex(of: "=") else {
                continue
            }
            let value = String(line[line.index(after: equals)...].trimmed)
            switch line[..<equals].trimmed {
            case "X-Relay": kind = value == "true" ? .relay : value == "secondary" ? .secondary : .other
            case "SystemdService": unit = value.isEmpty ? nil : value
            case "Exec": exec = value.isEmpty ? nil : value
            default: break
            }
        }
    }
    /// The words of the command line; empty: there are none, or they cannot be read.
    var command: [String] { exec.flatMap { StartProgram.words(of: $0) } ?? [] }
}

extension Substring {
    fileprivate var trimmed: Substring {
        let isSpace = { (character: Character) in character == " " || character == "\t" }
        guard let first = firstIndex(where: { !isSpace($0) }), let last = lastIndex(where: { !isSpace($0) }) else {
            return self[startIndex..<startIndex]
        }
        return self[first...last]
    }
}
