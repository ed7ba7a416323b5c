/// A rule for the signals that the bus shall pass on.
package struct MatchRule: Hashable, Sendable, CustomStringConvertible {
    package let description: String

    package init(
        sender: String, path: String? = nil, interface: String, member: String? = nil, arguments: [(Int, String)] = []
    ) {
        var text = "type='signal',sender=\(Self.quoted(sender)),interface=\(Self.quoted(interface))"
        if let path { text += ",path=\(Self.quoted(path))" }
        if let member { text += ",member=\(Self.quoted(member))" }
        for (index, value) in arguments { text += ",arg\(index)=\(Self.quoted(value))" }
        description = text
    }
    /// The D-Bus specification's "Match Rules": within apostrophes nothing is special but the apostrophe, which ends them.
    private static func quoted(_ value: String) -> String {
        var text = "'"
        // Scalars: a combining mark after the apostrophe makes another character of it.
        for scalar in value.unicodeScalars {
            if scalar == "'" { text += #"'\''"# } else { text.unicodeScalars.append(scalar) }
        }
        return text + "'"
    }
    /// Who owns a name, and who follows.
    package static func owner(of name: String) -> Self {
        Self(
            sender: "org.freedesktop.DBus", path: "/org/freedesktop/DBus", interface: "org.freedesktop.DBus",
            member: "NameOwnerChanged", arguments: [(0, name)])
    }
    /// Whose connection ended.
    package static let departures = Self(
        sender: "org.freedesktop.DBus", path: "/org/freedesktop/DBus", interface: "org.freedesktop.DBus",
        member: "NameOwnerChanged", arguments: [(2, "")])
}
