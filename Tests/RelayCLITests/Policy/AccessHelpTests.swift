import RelayCore
import RelayTool
import TestTraits
import Testing

@testable import relay_cli
@Suite("What a refused user can do", .tags(.g8))
struct AccessHelpTests {
    private static let name = "org.eventrelay.Service1"
    private let policy = BusPolicy(rules: [
        BusPolicy.Rule(context: .everyone, allows: false, subject: .calling(.any, interface: nil, member: nil)),
        BusPolicy.Rule(
            context: .group("eventrelay-users"), allows: true,
            subject: .calling(.name(AccessHelpTests.name), interface: nil, member: nil)),
    ])
    private func help(
        groups: Set<String> = [], atLogin: Set<String> = [], _ policy: BusPolicy? = nil
    ) -> AccessHelp {
        AccessHelp(
            account: UserAccount(userID: 1_001, userName: "alice", groups: groups, groupsAtLogin: atLogin),
            policy: policy ?? self.policy, group: Self.group)
    }
    /// The groups of the system: whatever is asked for by a name; by their numbers these.
    private static let group = { @Sendable (title: String) -> UserGroup? in
        switch title {
        case "994": UserGroup(number: 994, name: "printer-users")
        // A name that a command line reads as a number.
        case "995": UserGroup(number: 995, name: "1234")
        case _ where UserGroup.isNumber(title) || title == "nobody-has-it": nil
        default: UserGroup(number: 7_000 + UInt32(title.utf8.count), name: title)
        }
    }
    /// As the bus refuses a call.
    private let denied = CLIFailure(
        .notPermitted, "Introspect: Rejected send message, 1 matched rules; type=\"method_call\" …",
        name: "org.freedesktop.DBus.Error.AccessDenied")

    @Test("someone outside of the group reads how to join it") func outside() {
        #expect(
            help().explanation(of: denied, service: Self.name, on: .system)
                == CLIFailure(
                    .notPermitted,
                    "user 'alice' may not call 'org.eventrelay.Service1' on the system bus: join the group that may: sudo "
                        + "adduser alice eventrelay-users, and log in again",
                    name: "org.freedesktop.DBus.Error.AccessDenied"))
    }
    @Test("someone who has joined it since reads to log in again") func joined() {
        #expect(
            help(atLogin: ["eventrelay-users"]).explanation(of: denied, service: Self.name, on: .system)?.message
                == "user 'alice' may not call 'org.eventrelay.Service1' on the system bus: you have joined the group "
                + "eventrelay-users since you logged in: log in again")
        #expect(help(groups: ["eventrelay-users"]).remedy(forCalling: Self.name) == nil)
    }
    @Test("a policy that lets no group call is the administrator's matter; of an unknown one nothing is invented")
    func noGroup() {
        let closed = BusPolicy(rules: [policy.rules[0]])
        #expect(
            help(closed).explanation(of: denied, service: Self.name, on: .session)?.message.hasSuffix(
                "on the session bus: its policy lets no group do so; have its administrator allow 'send_destination'")
                == true)
        let unknown = AccessHelp(account: help().account, policy: nil, group: Self.group)
        #expect(unknown.explanation(of: denied, service: Self.name, on: .session) == nil)
        let other = CLIFailure(.unavailable, "gone")
        #expect(help().explanation(of: other, service: Self.name, on: .session) == nil)
    }
    @Test("a service's own refusal stays as it is: no command is made of its words") func requirement() {
        for words in [
            "OrderBox: org.a.B1 is for (group 'sudo' or group 'lp'), :1.5 is user 1001 (…)", "group 'sudo'",
            "it is for (group 'wheel' and user 'x')", "group 'a;rm' group '-G' group '1000'",
        ] {
            let refusal = CLIFailure(.notPermitted, words, name: "org.eventrelay.Error.NotPermitted")
            for help in [help(), help(groups: ["lp", "wheel"]), help(groups: ["lp"], atLogin: ["lp", "7"])] {
                #expect(help.explanation(of: refusal, service: Self.name, on: .system) == nil, "\(words)")
            }
            // What this system knows of the user is no word of the service.
            #expect(
                help(groups: ["lp"], atLogin: ["lp", "wheel", "10"]).explanation(
                    of: refusal, service: Self.name, on: .system)?.message
                    == words
                    + "; you have joined the group wheel since you logged in: log in again, if that is what is "
                    + "required")
        }
        #expect(help(atLogin: ["b", "a"]).remedyForRequirement?.contains("the groups a and b since") == true)
        // A service may call its own refusal as the bus calls one.
        let disguised = CLIFailure(
            .notPermitted, "it is for group 'sudo'", name: "org.freedesktop.DBus.Error.AccessDenied")
        let message = help().explanation(of: disguised, service: Self.name, on: .system)?.message
        #expect(message?.contains("sudo adduser alice eventrelay-users,") == true)
    }
    /// A policy that lets a group call, and then these rules.
    private static func letting(_ group: String, _ rules: BusPolicy.Rule...) -> BusPolicy {
        BusPolicy(rules: [.calls(.everyone, false), .calls(.group(group), true)] + rules)
    }
    @Test("a group that gives no access is no advice: another rule keeps the user out, or they are in it already")
    func uselessGroup() {
        let barred = Self.letting("users", .calls(.user("alice"), false))
        let closed = Self.letting("users", .calls(.mandatory, false))
        for policy in [barred, closed] {
            for help in [help(policy), help(groups: ["users"], policy), help(atLogin: ["users"], policy)] {
                #expect(help.remedy(forCalling: Self.name) == nil)
            }
        }
        #expect(
            help(groups: ["users"], barred).explanation(of: denied, service: Self.name, on: .system)?.message.hasSuffix(
                "its policy gives them access by no group of this system; have its administrator allow 'send_destination'"
            )
                == true)
        // One group of the two keeps them out; and of two, the one that they are in is not named.
        let either = Self.letting("users", .calls(.group("staff"), true), .calls(.group("guests"), false))
        #expect(
            help(groups: ["guests"], either).remedy(forCalling: Self.name) == nil
                && help(either).remedy(forCalling: Self.name)
                    == "join the group that may: sudo adduser alice users (or staff), and log in again"
        )
        let parts = BusPolicy(rules: [
            .calls(.everyone, false), .calls(.group("staff"), true), .calls(.group("users"), true),
            .calls(.user("alice"), false), .calls(.user("alice"), true),
        ])
        #expect(help(parts).remedy(forCalling: Self.name) == nil)
    }
    @Test("a group that a policy calls by its number is named; what is no group of this system is not advised")
    func numbers() {
        #expect(
            help(Self.letting("994")).remedy(forCalling: Self.name)
                == "join the group that may: sudo adduser alice printer-users, and log in again")
        #expect(
            help(atLogin: ["994", "printer-users"], Self.letting("994")).remedy(forCalling: Self.name)
                == "you have joined the group printer-users since you logged in: log in again")
        for group in ["995", "996", "nobody-has-it"] {
            #expect(help(Self.letting(group)).remedy(forCalling: Self.name) == nil, "\(group)")
        }
        #expect(UserGroup.named("root") == UserGroup(number: 0, name: "root"))
        #expect(UserGroup.named("0") == UserGroup(number: 0, name: "root"))
        for group in ["4000000001", "99999999999", "", "no such group"] { #expect(UserGroup.named(group) == nil) }
    }
    @Test("a user's name that is more than a word stands in no command line") func hostileUser() {
        var account = help().account
        for name in ["a b", "$(id)", "1000", nil] {
            account.userName = name
            let help = AccessHelp(account: account, policy: policy, group: Self.group)
            #expect(help.remedy(forCalling: Self.name)?.contains("sudo adduser NAME eventrelay-users,") == true)
        }
    }
    @Test(
        "a group of the bus's policy that is no group's name stands in no command line",
        arguments: [
            "`touch${IFS}PWN`;$(id>&2)#", "-G", "a b", "",
        ])
    func hostileGroup(name: String) {
        let rules = [name, "users"].map { group in
            BusPolicy.Rule(
                context: .group(group), allows: true,
                subject: .calling(.name(Self.name), interface: nil, member: nil))
        }
        #expect(help(BusPolicy(rules: [rules[0]])).remedy(forCalling: Self.name) == nil)
        #expect(
            help(BusPolicy(rules: rules)).remedy(forCalling: Self.name)
                == "join the group that may: sudo adduser alice users, and log in again")
    }
}

extension BusPolicy.Rule {
    fileprivate static func calls(_ context: BusPolicy.Context, _ allows: Bool) -> BusPolicy.Rule {
        BusPolicy.Rule(context: context, allows: allows, subject: .calling(.any, interface: nil, member: nil))
    }
}
