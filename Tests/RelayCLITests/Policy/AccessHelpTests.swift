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
            policy: policy ?? self.policy)
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
        let unknown = AccessHelp(account: help().account, policy: nil)
        #expect(unknown.explanation(of: denied, service: Self.name, on: .session) == nil)
        let other = CLIFailure(.unavailable, "gone")
        #expect(help().explanation(of: other, service: Self.name, on: .session) == nil)
    }
    @Test("a service's own refusal is explained by the groups that its requirement names") func requirement() {
        let refusal = CLIFailure(
            .notPermitted, "OrderBox: org.a.B1 is for (group 'wheel' or group 'lp'), :1.5 is user 1001 (…)",
            name: "org.eventrelay.Error.NotPermitted")
        #expect(
            help().explanation(of: refusal, service: Self.name, on: .system)?.message
                == refusal.message + "; join the group that may: sudo adduser alice wheel (or lp), and log in again")
        #expect(
            help(groups: ["lp", "wheel"]).remedy(forRefusal: "it is for (group 'wheel' and user 'x')")
                == "you are in the group wheel, which is not all that is required")
        // It is copied into a command line: what is no group's name is not shown as one.
        #expect(help().remedy(forRefusal: "group 'a;rm' group '-G' group '' group 'x") == nil)
        #expect(help().remedy(forRefusal: "it is for user 'root'") == nil)
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
    @Test("the text of a requirement is the one that is read here") func text() throws {
        #expect(AccessHelp.groups(in: "\(PeerRequirement.group("wheel"))") == ["wheel"])
    }
}
