import RelayCore
import RelayTool

/// What a user can do who was refused: joins a group that may do it, as the rule in force names it.
struct AccessHelp: Sendable {
    let account: UserAccount
    /// nil: the rules of the bus are not known here.
    let policy: BusPolicy?

    /// What gives the user access to a service that the bus does not let them call; nil: the rules name no group.
    func remedy(forCalling service: String) -> String? {
        guard let policy else { return nil }
        if policy.allowsCalling(service, account) { return nil }
        return remedy(byJoining: policy.groups(thatCall: service))
    }
    /// What gives the user access to what a service keeps for groups; nil: its words name none.
    func remedy(forRefusal message: String) -> String? { remedy(byJoining: Self.groups(in: message)) }

    private func remedy(byJoining named: [String]) -> String? {
        let groups = named.filter(Self.isGroup)
        guard let first = groups.first else { return nil }
        if let joined = groups.first(where: { account.groupsAtLogin.contains($0) && !account.groups.contains($0) }) {
            return "you have joined the group \(joined) since you logged in: log in again"
        }
        if let joined = groups.first(where: { account.groups.contains($0) }), groups.count == 1 {
            return "you are in the group \(joined), which is not all that is required"
        }
        let user = account.userName ?? "NAME"
        let others = groups.dropFirst()
        let choice = others.isEmpty ? "" : " (or \(others.joined(separator: " or ")))"
        return "join the group that may: sudo adduser \(user) \(first)\(choice), and log in again"
    }

    /// It goes into a command line that a person copies, and others have written it.
    private static func isGroup(_ name: String) -> Bool {
        !name.hasPrefix("-") && (1...32).contains(name.utf8.count)
            && name.utf8.allSatisfy { byte in
                byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_") || byte == UInt8(ascii: ".")
                    || UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte || UInt8(ascii: "A")...UInt8(ascii: "Z") ~= byte
                    || UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte
            }
    }
    /// What stands for groups in the text of a requirement, as `PeerRequirement` describes itself: `group 'wheel'`.
    static func groups(in message: String) -> [String] {
        var groups: [String] = []
        var rest = Substring(message)
        while let start = rest.firstRange(of: "group '") {
            rest = rest[start.upperBound...]
            guard let end = rest.firstIndex(of: "'") else { break }
            let name = String(rest[..<end])
            rest = rest[rest.index(after: end)...]
            if !groups.contains(name) { groups.append(name) }
        }
        return groups
    }
}

extension AccessHelp {
    /// A refusal in words that say what to do; nil: nothing is known beyond what it says.
    func explanation(of failure: CLIFailure, service: String, on bus: BusChoice) -> CLIFailure? {
        guard failure.code == .notPermitted else { return nil }
        if failure.name == ErrorNames.accessDenied {
            // The bus's own sentence lists the fields of a message, and helps nobody who is not its administrator.
            guard let policy, !policy.allowsCalling(service, account) else { return nil }
            let remedy =
                remedy(forCalling: service)
                ?? "its policy lets no group do so; have its administrator allow 'send_destination'"
            return failure.with(message: "\(account.title) may not call '\(service)' on \(Bus(bus)): \(remedy)")
        }
        return remedy(forRefusal: failure.message).map { failure.with(message: "\(failure.message); \($0)") }
    }
}
