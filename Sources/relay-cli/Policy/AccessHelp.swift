import RelayCore
import RelayTool

/// What a user can do who was refused: joins a group that may do it, as the rule in force names it.
///
/// A command is made only of what this system's own files say: a refusal's words are the refusing peer's.
struct AccessHelp: Sendable {
    /// More groups than that are no advice.
    private static let mostGroups = 32

    let account: UserAccount
    /// nil: the rules of the bus are not known here.
    let policy: BusPolicy?
    /// A group by its name or number, as a rule has it; nil: this system has none.
    let group: @Sendable (_ title: String) -> UserGroup?

    /// What gives the user access to a service that the bus does not let them call; nil: no group does.
    func remedy(forCalling service: String) -> String? {
        guard let policy, !policy.allowsCalling(service, account) else { return nil }
        var groups: [UserGroup] = []
        for title in policy.groups(thatCall: service).prefix(Self.mostGroups) {
            if let group = group(title), !groups.contains(group) { groups.append(group) }
        }
        let later = account.joining(account.groupsAtLogin)
        if policy.allowsCalling(service, later) {
            let joined = groups.filter { $0.isAmong(later.groups) && !$0.isAmong(account.groups) }
            return Self.remedy(byLogin: joined.map(\.name))
        }
        // By the rules as a whole: a later one may keep out a user of that group.
        let helpful = groups.filter { group in
            Self.isPlain(group.name) && policy.allowsCalling(service, later.joining(group.titles))
        }
        guard let first = helpful.first else { return nil }
        let user = account.userName.flatMap { Self.isPlain($0) ? $0 : nil } ?? "NAME"
        let others = helpful.dropFirst().map(\.name)
        let choice = others.isEmpty ? "" : " (or \(others.joined(separator: " or ")))"
        return "join the group that may: sudo adduser \(user) \(first.name)\(choice), and log in again"
    }
    /// What may give the user access to what a service itself keeps for a group; nil: nothing is known here that does.
    var remedyForRequirement: String? {
        let joined = account.groupsAtLogin.subtracting(account.groups).filter { !UserGroup.isNumber($0) }.sorted()
        return joined.isEmpty ? nil : Self.remedy(byLogin: joined) + ", if that is what is required"
    }
    private static func remedy(byLogin groups: [String]) -> String {
        let title = groups.count == 1 ? "the group" : "the groups"
        return groups.isEmpty
            ? "your groups have changed since you logged in: log in again"
            : "you have joined \(title) \(Words.list(groups)) since you logged in: log in again"
    }

    /// It goes into a command line that a person copies. A name of digits alone would be read as a number there.
    private static func isPlain(_ name: String) -> Bool {
        !name.hasPrefix("-") && (1...32).contains(name.utf8.count) && !UserGroup.isNumber(name)
            && name.utf8.allSatisfy { byte in
                byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_") || byte == UInt8(ascii: ".")
                    || UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte || UInt8(ascii: "A")...UInt8(ascii: "Z") ~= byte
                    || UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte
            }
    }
}

extension AccessHelp {
    /// A refusal in words that say what to do; nil: nothing is known beyond what it says.
    func explanation(of failure: CLIFailure, service: String, on bus: BusChoice) -> CLIFailure? {
        guard failure.code == .notPermitted else { return nil }
        if failure.name == ErrorNames.accessDenied {
            // The bus's own sentence lists the fields of a message, and helps nobody who is not its administrator.
            guard let policy, !policy.allowsCalling(service, account) else { return nil }
            let reason =
                policy.groups(thatCall: service).isEmpty
                ? "its policy lets no group do so" : "its policy gives them access by no group of this system"
            let remedy =
                remedy(forCalling: service) ?? "\(reason); have its administrator allow 'send_destination'"
            return failure.with(message: "\(account.title) may not call '\(service)' on \(Bus(bus)): \(remedy)")
        }
        return remedyForRequirement.map { failure.with(message: "\(failure.message); \($0)") }
    }
}
