import Glibc
import RelayTestKit
import Synchronization
import TestTraits
import Testing

@testable import RelayCore
import RelayWire

/// With the real authority, because only it has its rules; and with real users.
@Suite(
    "Debian's polkitd and real users",
    .enabled(if: PrivatePolkit.obstacle == nil, "\(PrivatePolkit.obstacle ?? "")"), .heavy, .tags(.g7))
struct PolkitdTests {
    private static let notPermitted = "org.eventrelay.Error.NotPermitted"
    /// Of `nobody` and of `daemon`.
    private static let (nobody, daemon) = ("65534", "1")
    private static func action(_ id: String, _ standard: String, owner: String? = nil) -> String {
        """
        <action id="\(id)"><description>x</description><message>x</message>
        <defaults><allow_any>\(standard)</allow_any><allow_inactive>\(standard)</allow_inactive>
        <allow_active>\(standard)</allow_active></defaults>
        \(owner.map { "<annotate key=\"org.freedesktop.policykit.owner\">unix-user:\($0)</annotate>" } ?? "")
        </action>
        """
    }
    private static func file(_ actions: String...) -> String {
        """
        <?xml version="1.0" encoding="UTF-8"?>
        <!DOCTYPE policyconfig PUBLIC "-//freedesktop//DTD PolicyKit Policy Configuration 1.0//EN"
         "http://www.freedesktop.org/standards/PolicyKit/1/policyconfig.dtd">
        <policyconfig>\(actions.joined())</policyconfig>
        """
    }
    private static func watched(follow: String, manage: String) -> [String: String] {
        [
            "org.example.watched.policy": file(
                action("org.example.watched.follow", follow), action("org.example.watched.manage", manage))
        ]
    }
    /// Rules for two users: `user` gets what these say, everybody else what the actions say.
    private static func rules(_ user: String, follow: String, manage: String) -> String {
        """
        polkit.addRule(function(action, subject) {
            if (subject.user != "\(user)") return polkit.Result.NOT_HANDLED;
            if (action.id == "org.example.watched.follow") return polkit.Result.\(follow);
            if (action.id == "org.example.watched.manage") return polkit.Result.\(manage);
        });
        """
    }
    private func run(as user: String, _ program: String, _ arguments: [String]) async throws -> RunningProgram.Outcome {
        try await RunningProgram.run(
            "setpriv", ["--reuid=\(user)", "--regid=\(user)", "--clear-groups", program] + arguments)
    }
    /// Calls as a user; without a descriptor among the arguments.
    private func call(
        _ polkit: PrivatePolkit, as user: String, _ one: WatchedDesk.Guarded, isInteractive: Bool = false
    ) async throws -> RunningProgram.Outcome {
        return try await run(
            as: user, "busctl",
            [
                "--address=\(polkit.bus.address)", "--timeout=30",
                "--allow-interactive-authorization=\(isInteractive ? "yes" : "no")", "call", WatchedDesk.name,
                WatchedDesk.path(Watched1.name), one.interface, one.member,
            ] + one.text)
    }

    @Test("G7: each guarded thing is refused to a second user, and allowed, by polkit's rules") func members()
        async throws
    {
        let polkit = try await PrivatePolkit(
            actions: Self.watched(follow: "no", manage: "no"),
            rules: Self.rules("nobody", follow: "YES", manage: "YES"))
        let desk = try await WatchedDesk(polkit.system)
        for one in try desk.guarded() where !one.isWithSocket {
            let refused = try await call(polkit, as: Self.daemon, one)
            #expect(refused.code != 0, "\(one): \(refused)")
            #expect(refused.errors.joined().contains(one.action), "\(one): \(refused)")
            #expect(refused.errors.joined().contains("user 1"), "\(one): \(refused)")
            let allowed = try await call(polkit, as: Self.nobody, one)
            #expect(!allowed.errors.joined().contains(one.action), "\(one): \(allowed)")
        }
        // And with descriptors.
        for one in try desk.guarded() where one.isWithSocket || one.member == "OpenRing" {
            let (refused, allowed) = (
                try await BusStranger.join(polkit.system, as: 1), try await BusStranger.join(polkit.system, as: 65_534)
            )
            let refusal = try await desk.refusal(one, of: refused)
            #expect(refusal?.name == Self.notPermitted && refusal?.message.contains("user 1") == true, "\(one)")
            #expect(try await desk.refusal(one, of: allowed) == nil, "\(one)")
        }
        #expect(Set(desk.runs.withLock { $0 }) == ["Peek", "Touch"])
        #expect(desk.notices.all(of: .notPermitted).contains { $0.message.contains("user 1") })
        try await desk.stop()
        await polkit.stop()
    }
    @Test("what needs a person is denied where none can be asked") func person() async throws {
        let polkit = try await PrivatePolkit(
            actions: Self.watched(follow: "auth_admin", manage: "auth_admin"),
            rules: Self.rules("nobody", follow: "YES", manage: "AUTH_ADMIN"))
        let desk = try await WatchedDesk(polkit.system)
        let guarded = try desk.guarded()
        for one in guarded where ["Attach", "Peek", "Touch"].contains(one.member) {
            let refused = try await call(polkit, as: Self.daemon, one)
            #expect(refused.errors.joined().contains("would have to authenticate"), "\(one): \(refused)")
            let outcome = try await call(polkit, as: Self.nobody, one)
            #expect((outcome.code == 0) == (one.member != "Touch"), "\(one): \(outcome)")
        }
        // Nobody's session has an agent here: polkit says so instead of waiting.
        let touch = try #require(guarded.first { $0.member == "Touch" })
        let asked = try await call(polkit, as: Self.nobody, touch, isInteractive: true)
        #expect(asked.code != 0 && asked.errors.joined().contains(touch.action), "\(asked)")
        #expect(!desk.runs.withLock { $0 }.contains("Touch"))
        // An action that is not declared is nobody's, and the caller learns that it may come.
        try await desk.stop()
        await polkit.stop()
    }
    @Test("G7: a rule that changes ends what it no longer permits") func withdrawal() async throws {
        // Not root: to polkit, root is authorised whatever the rules say.
        let polkit = try await PrivatePolkit(
            actions: Self.watched(follow: "no", manage: "no"),
            rules: Self.rules("nobody", follow: "YES", manage: "NO"))
        let desk = try await WatchedDesk(polkit.system)
        let peer = try await BusStranger.join(polkit.system, as: 65_534)
        let path = WatchedDesk.path(Flow1.name)
        let all = DBusValue.array(.string, [.string("*")])
        _ = try await peer.call(
            WatchedDesk.name, path, Stream1.name, "Attach", [.uint64(0), .uint64(0), all, AttachOptions().value])
        let ring = try await peer.connection.call(
            MethodCall(to: WatchedDesk.name, path: path, interface: Stream1.name, member: "OpenRing"))
        let area = try #require(ring.descriptors.first).withNumber { try RingArea(receiving: $0) }
        var reader = RingReader(area, after: 0, atTail: false)
        try desk.service.publish(Flowed(number: 1))
        guard case .record = try reader.next() else { throw RelayError(.notFound, "no record") }
        try polkit.rules(Self.rules("nobody", follow: "NO", manage: "NO"))
        #expect(await eventually { peer.signals.contains { $0.member == "Reattach" } })
        try desk.service.publish(Flowed(number: 2))
        guard case .ended = try reader.next() else { throw RelayError(.conflict, "the ring goes on") }
        #expect(await peer.refusal(WatchedDesk.name, path, Stream1.name, "OpenRing")?.name == Self.notPermitted)
        try polkit.rules(Self.rules("nobody", follow: "YES", manage: "NO"))
        #expect(await eventuallyPermitted(peer, path))
        try await desk.stop()
        await polkit.stop()
    }
    private func eventuallyPermitted(_ peer: BusStranger, _ path: String) async -> Bool {
        for _ in 0..<3_000 {
            if await peer.refusal(WatchedDesk.name, path, Stream1.name, "Schemas") == nil { return true }
            try? await Task.sleep(for: .milliseconds(20))
        }
        return false
    }
    @Test("a service that is not root is answered where the action names its user as the owner") func owner()
        async throws
    {
        let polkit = try await PrivatePolkit(
            actions: [
                "org.example.owned.policy": Self.file(
                    Self.action("org.example.owned", "yes", owner: "daemon"), Self.action("org.example.free", "yes"))
            ], rules: "")
        let subject = try await BusStranger.join(polkit.system)
        func ask(_ action: String, as user: String) async throws -> RunningProgram.Outcome {
            try await run(
                as: user, "busctl",
                [
                    "--address=\(polkit.bus.address)", "call", Polkit.name, Polkit.path, Polkit.interface,
                    "CheckAuthorization", "(sa{sv})sa{ss}us", "system-bus-name", "1", "name", "s",
                    subject.connection.uniqueName, action, "0", "0", "",
                ])
        }
        let owned = try await ask("org.example.owned", as: Self.daemon)
        #expect(owned.code == 0 && owned.output.joined().contains("true"), "\(owned)")
        for (action, user) in [("org.example.free", Self.daemon), ("org.example.owned", Self.nobody)] {
            let refused = try await ask(action, as: user)
            #expect(refused.code != 0 && refused.errors.joined().contains("trusted callers"), "\(refused)")
        }
        await polkit.stop()
    }
    @Test("the example's actions and rules are what polkit takes") func example() async throws {
        let folder = String(#filePath).split(separator: "/", omittingEmptySubsequences: false).dropLast(5)
            .joined(separator: "/")
        func text(_ name: String) async throws -> String {
            try await RunningProgram.run("cat", ["\(folder)/Examples/polkit/\(name)"]).output.joined(separator: "\n")
        }
        let policy = try await text("org.example.printer.policy").replacing(
            "unix-user:printer", with: "unix-user:daemon")
        let rules = try await text("50-org.example.printer.rules").replacing("operators", with: "root")
        let polkit = try await PrivatePolkit(actions: ["org.example.printer.policy": policy], rules: rules)
        let service = try await BusStranger.join(polkit.system)
        func check(_ action: String, of peer: BusStranger) async throws -> Polkit.Answer {
            let question = try Polkit.question(
                action, of: peer.connection.uniqueName, isInteractive: false, cancellation: "", to: Polkit.name)
            return try Polkit.answer(try await service.connection.call(question))
        }
        for action in ["org.example.printer.follow", "org.example.printer.manage"] {
            // Root is in the group root, which stands for the operators here.
            #expect(try await check(action, of: service) == .authorised)
        }
        #expect(policy.contains("org.freedesktop.policykit.owner"))
        await polkit.stop()
    }
}
