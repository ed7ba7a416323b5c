import RelayWire

/// The messages of polkit's authority (polkit's manual, "org.freedesktop.PolicyKit1.Authority").
package enum Polkit {
    package static let name = "org.freedesktop.PolicyKit1"
    package static let path = "/org/freedesktop/PolicyKit1/Authority"
    package static let interface = "org.freedesktop.PolicyKit1.Authority"
    /// Its rules, its actions or somebody's authorisations have changed.
    package static let changes = MatchRule(sender: name, path: path, interface: interface, member: "Changed")
    /// `AllowUserInteraction`.
    private static let interactive: UInt32 = 1

    /// What it says of a peer and an action.
    package enum Answer: Hashable, Sendable {
        case authorised, denied
        /// A person would have to authenticate, and was not asked.
        case needsPerson
        /// A person was asked, and has declined.
        case dismissed
    }

    /// Asks whether a peer may do something.
    ///
    /// - Parameter owner: the unique name of the authority, so that no other connection can answer in its place.
    /// - Parameter cancellation: a name by which the question can be withdrawn; empty for none.
    package static func question(
        _ action: String, of peer: String, isInteractive: Bool, cancellation: String, to owner: String
    ) throws(RelayError) -> MethodCall {
        let text = DBusType.string
        let values: [DBusValue] = [
            .structure([
                .string("system-bus-name"),
                .dictionary(.dictionary(text, .variant), [.init(key: .string("name"), value: .variant(.string(peer)))]),
            ]),
            // Details are for callers that are root or the action's owner.
            .string(action), .dictionary(.dictionary(text, text), []), .uint32(isInteractive ? interactive : 0),
            .string(cancellation),
        ]
        return try call("CheckAuthorization", values, owner)
    }
    /// Withdraws a question: a prompt disappears.
    package static func cancellation(_ cancellation: String, to owner: String) throws(RelayError) -> MethodCall {
        try call("CancelCheckAuthorization", [.string(cancellation)], owner)
    }
    private static func call(
        _ member: String, _ values: [DBusValue], _ owner: String
    ) throws(RelayError) -> MethodCall {
        MethodCall(
            to: owner, path: path, interface: interface, member: member,
            signature: try DBusValue.signature(of: values), body: try DBusValue.body(values))
    }

    /// Throws `SchemaMismatch` for anything but a clear answer.
    package static func answer(_ reply: BusReply) throws(RelayError) -> Answer {
        guard reply.signature == "(bba{ss})", case .structure(let fields)? = try reply.values().first,
            fields.count == 3, case .boolean(let isAuthorised) = fields[0], case .boolean(let isChallenge) = fields[1],
            case .dictionary(_, let details) = fields[2]
        else { throw RelayError(.schemaMismatch, "polkit answered with '\(reply.signature)'") }
        if isAuthorised { return .authorised }
        if isChallenge { return .needsPerson }
        return details.contains { $0.key == .string("polkit.dismissed") } ? .dismissed : .denied
    }
}

extension PeerRequirement {
    /// Throws `InvalidArgument` for a requirement that no peer of a service on this bus could meet.
    func check(forServiceOn bus: Bus, _ what: String) throws(RelayError) {
        do throws(RelayError) { try check() } catch {
            throw RelayError(error.code, "\(what) requires \(self): \(error.message)")
        }
        if needsPolkit && !bus.isSystem {
            throw RelayError(
                .invalidArgument,
                "\(what) requires \(self), and polkit knows the peers of the system bus only, not of \(bus): offer it "
                    + "on the system bus, or require a user or a group")
        }
    }
    /// Throws `InvalidArgument` for a requirement that makes no sense for the owner of a name.
    func check(forOwnerOf service: String) throws(RelayError) {
        do throws(RelayError) { try check() } catch {
            throw RelayError(error.code, "the relay of \(service) requires \(self): \(error.message)")
        }
        if needsPolkit {
            throw RelayError(
                .invalidArgument,
                "the relay of \(service) requires \(self): polkit says what a caller may do, not who a service is; "
                    + "require a user, a group or a systemd unit")
        }
    }
}
