/// A rule for the signals that the bus shall pass on.
package struct MatchRule: Hashable, Sendable, CustomStringConvertible {
    package let description: String

    /// Only names and paths that were validated go in: none has an apostrophe, which would end the value.
    package init(
        sender: String, path: String? = nil, interface: String, member: String? = nil, arguments: [(Int, String)] = []
    ) {
        var text = "type='signal',sender='\(sender)',interface='\(interface)'"
        if let path { text += ",path='\(path)'" }
        if let member { text += ",member='\(member)'" }
        for (index, value) in arguments { text += ",arg\(index)='\(value)'" }
        description = text
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
