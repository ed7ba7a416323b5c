import RelayCore
import RelayWire
import RelayTool

/// What does not depend on the service, and what both sides can do.
extension Examination {
    /// Of an ordinary process; the service and a relay with rings need about a dozen.
    private static let fewDescriptors: UInt64 = 256

    func limits(_ peer: (any BusPeer)?) {
        let limit = facts.descriptorLimit()
        var text = "\(Quantity.count(limit, "descriptor")) a process"
        if let peer, let stats = Self.stats(peer, timeout) { text += "; the bus has " + stats }
        report(
            limit < Self.fewDescriptors
                ? Finding("limits", .warning, text, remedy: "raise it: ulimit -n 1024, or LimitNOFILE= in the unit")
                : Finding("limits", .ok, text))
    }
    /// Of a bus that tells: dbus-daemon, to those who may ask.
    private static func stats(_ peer: any BusPeer, _ timeout: Duration) -> String? {
        let call = MethodCall(
            to: "org.freedesktop.DBus", path: "/org/freedesktop/DBus", interface: "org.freedesktop.DBus.Debug.Stats",
            member: "GetStats")
        guard let reply = try? peer.ask(call, within: timeout), reply.signature == "a{sv}",
            case .dictionary(_, let entries)? = try? reply.values().first
        else { return nil }
        func number(_ name: String) -> UInt64? {
            for entry in entries where entry.key == .string(name) {
                if case .variant(.uint32(let value)) = entry.value { return UInt64(value) }
            }
            return nil
        }
        guard let connections = number("ActiveConnections"), let rules = number("MatchRules") else { return nil }
        return "\(Quantity.count(connections, "connection")) and \(Quantity.count(rules, "match rule"))"
    }

    func clock() {
        report(
            facts.clockIsSynchronised()
                ? Finding("clock", .ok, "the system's clock is synchronised")
                : Finding(
                    "clock", .warning,
                    "nothing keeps the system's clock right: --since and ages may be off; events are kept "
                        + "at least as long as they should be",
                    remedy: "run an NTP client: timedatectl set-ntp true"))
    }

    /// - Parameters:
    ///   - version: of the Relay that the service is built with; nil: it does not report it.
    ///   - hasEvents: else there is nothing to subscribe to, and nothing that both sides need for it.
    func versions(_ attachment: Attachment?, _ version: String?, hasEvents: Bool = true) {
        var known = "relay-cli \(Version.current)"
        if let version { known += ", the service is built with Relay \(version)" }
        guard hasEvents else { return report(Finding("versions", .ok, "\(known); the service has no events")) }
        guard let attachment else {
            return report(
                Finding(
                    "versions", .warning, "\(known); the service was not asked for its own",
                    remedy: "do what is advised above, and ask again"))
        }
        let (own, other) = (StreamFeature.all, attachment.details.features)
        func list(_ features: Set<StreamFeature>) -> String { Words.list(features.map { "\($0.rawValue)" }.sorted()) }
        let both = own.intersection(other)
        known += "; both sides know \(both.isEmpty ? "no features of the protocol" : list(both))"
        let lacking = own.subtracting(other)
        report(
            lacking.isEmpty
                ? Finding("versions", .ok, known)
                : Finding(
                    "versions", .warning, "\(known); the service lacks \(list(lacking))",
                    remedy: "it works as it is; build the service with a newer Relay"))
    }
}
