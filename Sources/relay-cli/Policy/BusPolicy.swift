/// The rules of a bus about who may own a name and who may call its owner, as its configuration files state them.
///
/// Reading them replaces trying: a request for a name takes the name if its owner leaves at that moment.
struct BusPolicy: Equatable, Sendable {
    /// The users to whom a rule applies.
    enum Context: Hashable, Sendable {
        case everyone
        case group(String)
        case user(String)
        case mandatory
    }
    enum Pattern: Equatable, Sendable {
        case any
        case name(String)
        /// The name, and every name below it.
        case prefix(String)

        func matches(_ name: String) -> Bool {
            switch self {
            case .any: true
            case .name(let other): name == other
            case .prefix(let prefix): name == prefix || name.hasPrefix(prefix + ".")
            }
        }
    }
    enum Subject: Equatable, Sendable {
        case owning(Pattern)
        /// Sending a method call to an owner of the name. nil: every interface or member.
        case calling(Pattern, interface: String?, member: String?)
    }
    struct Rule: Equatable, Sendable {
        let context: Context
        let allows: Bool
        let subject: Subject
    }
    /// In the order of the files.
    var rules: [Rule] = []

    /// Whether this account may own the name.
    func allowsOwning(_ name: String, _ account: UserAccount) -> Bool {
        isAllowed(account.contexts) { subject in
            if case .owning(let pattern) = subject { pattern.matches(name) } else { false }
        }
    }
    /// Whether this account may ask the name's owner what it offers, which is the first call of every client.
    func allowsCalling(_ name: String, _ account: UserAccount) -> Bool {
        isAllowed(account.contexts) { Self.isIntrospection($0, name) }
    }
    /// The groups whose members may call the name's owner.
    func groups(thatCall name: String) -> [String] {
        allowed { Self.isIntrospection($0, name) }.compactMap { context in
            if case .group(let group) = context { group } else { nil }
        }
    }
    /// The users and groups that may own the name, apart from what everyone may.
    func owners(of name: String) -> [Context] {
        allowed { subject in if case .owning(let pattern) = subject { pattern.matches(name) } else { false } }
    }

    private static func isIntrospection(_ subject: Subject, _ name: String) -> Bool {
        guard case .calling(let pattern, let interface, let member) = subject, pattern.matches(name) else {
            return false
        }
        return (interface ?? "org.freedesktop.DBus.Introspectable") == "org.freedesktop.DBus.Introspectable"
            && (member ?? "Introspect") == "Introspect"
    }
    /// The users and groups of which the last rule that matches allows it, in their order: in one pass, for a hostile
    /// bus may have many.
    private func allowed(_ matches: (Subject) -> Bool) -> [Context] {
        var verdicts: [Context: Bool] = [:]
        var order: [Context] = []
        var mandatory: Bool?
        for rule in rules where rule.context != .everyone && matches(rule.subject) {
            if rule.context == .mandatory {
                mandatory = rule.allows
            } else if verdicts.updateValue(rule.allows, forKey: rule.context) == nil {
                order.append(rule.context)
            }
        }
        return order.filter { mandatory ?? verdicts[$0] ?? false }
    }
    /// The last rule that matches decides: of the rules for everyone, then of groups, of users, and of mandatory ones.
    private func isAllowed(_ contexts: Set<Context>, _ matches: (Subject) -> Bool) -> Bool {
        var isAllowed = false
        for rank in 0..<4 {
            for rule in rules where rule.context.rank == rank && matches(rule.subject) {
                let applies = rule.context == .everyone || rule.context == .mandatory || contexts.contains(rule.context)
                if applies { isAllowed = rule.allows }
            }
        }
        return isAllowed
    }
}

extension BusPolicy.Context {
    fileprivate var rank: Int {
        switch self {
        case .everyone: 0
        case .group: 1
        case .user: 2
        case .mandatory: 3
        }
    }
}

/// A group of this system.
struct UserGroup: Equatable, Sendable {
    let number: UInt32
    let name: String

    /// What rules may call it.
    var titles: Set<String> { ["\(number)", name] }
    func isAmong(_ titles: Set<String>) -> Bool { !titles.isDisjoint(with: self.titles) }

    /// Whether a bus reads a group's title as a number.
    static func isNumber(_ title: String) -> Bool {
        !title.isEmpty && title.utf8.allSatisfy { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }
    }
}

/// The user that a program runs as, by names and by numbers: policies use either.
struct UserAccount: Equatable, Sendable {
    var userID: UInt32
    /// nil: the system does not know it.
    var userName: String?
    /// The groups of this process, by name where they have one, and by number.
    var groups: Set<String> = []
    /// The groups that a new login of the user would have.
    var groupsAtLogin: Set<String> = []

    var contexts: Set<BusPolicy.Context> {
        var contexts = Set(groups.map { BusPolicy.Context.group($0) })
        contexts.insert(.user("\(userID)"))
        if let userName { contexts.insert(.user(userName)) }
        return contexts
    }
    /// The same user, in these groups besides.
    func joining(_ titles: Set<String>) -> UserAccount {
        var copy = self
        copy.groups.formUnion(titles)
        return copy
    }
    /// For people.
    var title: String { userName.map { "user '\($0)'" } ?? "user \(userID)" }
}
