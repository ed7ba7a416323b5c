import RelayWire

/// The bus name of a mirror: of which service it is one, and of which host.
package struct MirrorName: Hashable, Sendable, CustomStringConvertible {
    package static let prefix = "org.eventrelay.Mirror1"

    package let host: String
    package let service: String

    /// Throws `.invalidArgument` for a host's name that does not fit, for a service's that is no well-known name, and
    /// for both together if they are too long.
    package init(of service: String, at host: String) throws(RelayError) {
        try BusNames.check(service, as: .wellKnownName)
        if !Self.isHost(host) {
            throw RelayError(
                .invalidArgument,
                "\(BusNames.quoted(host)) is no host's name for mirrors: configure one of at most 63 lower-case "
                    + "letters, digits, '_' and '-' that does not begin with a digit or '-'")
        }
        (self.host, self.service) = (host, service)
        let length = description.utf8.count
        if length > WireLimits.nameLength {
            throw RelayError(
                .invalidArgument,
                "the name of a mirror of \(service) at \(host) has \(length) bytes, and a bus name at most "
                    + "\(WireLimits.nameLength): configure a shorter name for the host")
        }
        if service.hasPrefix(Self.prefix + ".") {
            throw RelayError(.invalidArgument, "\(service) is a mirror, and a mirror is not mirrored: name its origin")
        }
    }
    /// Nil for a name that is no mirror's.
    package init?(_ busName: String) {
        let start = Self.prefix + "."
        guard busName.hasPrefix(start), case let rest = busName.dropFirst(start.count),
            let dot = rest.firstIndex(of: ".")
        else { return nil }
        do throws(RelayError) {
            self = try Self(of: String(rest[rest.index(after: dot)...]), at: String(rest[..<dot]))
        } catch { return nil }
    }
    /// The name of the program that makes mirrors, on its bus.
    package static let bridge = "org.eventrelay.Bridge1"
    package var description: String { "\(Self.prefix).\(host).\(service)" }

    package static func isHost(_ name: String) -> Bool {
        let bytes = Array(name.utf8)
        guard let first = bytes.first, bytes.count <= 63, isLetter(first) else { return false }
        return bytes.allSatisfy { isLetter($0) || (48...57).contains($0) || $0 == UInt8(ascii: "-") }
    }
    private static func isLetter(_ byte: UInt8) -> Bool { (97...122).contains(byte) || byte == UInt8(ascii: "_") }

    /// What a machine of this name is called if its configuration says nothing: up to the first dot. Nil: that is no
    /// host's name.
    package static func host(ofMachine name: String) -> String? {
        var host = String(name.prefix { $0 != "." }).lowercased()
        if let first = host.utf8.first, (48...57).contains(first) { host = "_" + host }
        return isHost(host) ? host : nil
    }

    /// The policy of a bus for a user that runs mirrors and exporters: what one prefix for each is for.
    ///
    /// - Parameters:
    ///   - group: whose members may use the mirrors; nil: everybody may.
    ///   - mirrors: whose signals the others of the bus must not receive: a rule names one sender, and no prefix.
    package static func policy(for user: String, group: String?, mirrors: [MirrorName]) -> String {
        func policy(_ who: String, _ rules: [String]) -> String {
            rules.isEmpty ? "" : "  <policy \(who)>\n" + rules.map { "    <\($0)/>\n" }.joined() + "  </policy>\n"
        }
        let uses =
            [#"allow send_destination_prefix="\#(prefix)""#, #"allow send_destination="\#(bridge)""#]
            + mirrors.map { #"allow receive_sender="\#($0)""# }
        let owns = [
            #"allow own_prefix="\#(prefix)""#, #"allow own_prefix="org.eventrelay.Exporter1""#,
            #"allow own="\#(bridge)""#,
            // How much subscribers have not read: a service pauses its signals before the bus holds too much of them.
            #"allow send_destination="org.freedesktop.DBus" send_interface="org.freedesktop.DBus.Debug.Stats""#,
        ]
        var text = """
            <!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-BUS Bus Configuration 1.0//EN"
             "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
            <busconfig>

            """
        if let group {
            text += policy(
                #"context="default""#, mirrors.map { #"deny receive_sender="\#($0)" receive_type="signal""# })
            for who in [#"group="\#(group)""#, #"user="root""#] { text += policy(who, uses) }
            text += policy(#"user="\#(user)""#, owns + uses)
        } else {
            text += policy(#"context="default""#, uses) + policy(#"user="\#(user)""#, owns)
        }
        return text + "</busconfig>\n"
    }
}
