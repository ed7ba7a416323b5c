import Glibc
import RelayTestKit
import TestTraits
import Testing

/// The policies that are installed, as a `dbus-daemon` applies them to the signals of this process's user.
@Suite("Installed policies, on a bus", .heavy, .tags(.g8)) struct BusPolicyOnBusTests {
    private static let polkit = "/org/freedesktop/PolicyKit1/Authority:org.freedesktop.PolicyKit1.Authority:Changed"
    private static let otherEvent = "/org/example/Garden1:org.example.Garden1:Watered"
    private static let otherHead = "/org/example/Garden1:org.eventrelay.Stream1:Head"
    private static let objects = ["Relocation1", "Inventory1", "Telemetry1"]
    private static var ownSignals: [String] {
        objects.flatMap { object in
            [
                "org.eventrelay.\(object):Event", "org.eventrelay.Stream1:Head",
                "org.freedesktop.DBus.Properties:Changed",
            ]
            .map { "/org/eventrelay/\(object):\($0)" }
        }
    }
    /// What is between the root's tags of the policy file, in which this process's user takes a user's place.
    ///
    /// - Parameter user: nil: a user of none of its rules, who may own the name all the same.
    private static func rules(_ text: String, as user: String?, owning name: String) throws -> String {
        let start = try #require(text.firstRange(of: "<busconfig>"))
        let end = try #require(text.firstRange(of: "</busconfig>"))
        var rules = String(text[start.upperBound..<end.lowerBound])
        // The tests may run as root.
        rules = rules.replacing("user=\"root\"", with: "user=\"4000000001\"")
        if let user { rules = rules.replacing("user=\"\(user)\"", with: "user=\"\(geteuid())\"") }
        return rules + "<policy user=\"\(geteuid())\"><allow own=\"\(name)\"/></policy>"
    }
    /// Of these broadcasts of a program, those that another one receives, which owns the name.
    private static func received(
        _ signals: [String], under rules: String, owning name: String?
    ) async throws -> Set<String> {
        let bus = try PrivateBus(limits: .builtIn, policy: rules)
        let outcome = try await RunningProgram.run(
            "/usr/bin/python3", [Programs.sources + "/signal_probe.py", bus.address, name ?? "-"] + signals,
            environment: Programs.environment())
        try #require(outcome.code == 0, "\(outcome)")
        return Set(outcome.output.filter { !$0.isEmpty })
    }
    /// The policy of `relay-service`, and that of a service that `new-service` made, with name, user and object.
    private static func policies() async throws -> [(text: String, name: String, user: String, object: String)] {
        let folder = try TestFolder()
        let made = try await RunningProgram.run(
            Programs.cli,
            ["new-service", "--relay", Programs.sources + "/../..", "org.example.Printer", folder.path + "/printer"],
            environment: Programs.environment(["HOME": folder.path]))
        try #require(made.code == 0, "\(made)")
        let printer = try await RunningProgram.run(
            "cat", [folder.path + "/printer/packaging/org.example.Printer.conf"])
        return [
            (
                try Programs.text("Packaging/dbus-1/system.d/org.eventrelay.Service1.conf"), "org.eventrelay.Service1",
                "eventrelay", "/org/eventrelay/Relocation1:org.eventrelay.Relocation1"
            ),
            (
                printer.output.joined(separator: "\n"), "org.example.Printer", "example-printer-svc",
                "/org/example/Printer1:org.example.Printer1"
            ),
        ]
    }

    @Test("polkit's broadcast reaches the service, and no broadcast of another does") func polkit() async throws {
        for policy in try await Self.policies() {
            let rules = try Self.rules(policy.text, as: nil, owning: policy.name)
            let received = try await Self.received(
                [Self.polkit, "/some:org.example.Some1:Event", policy.object + ":Event"], under: rules,
                owning: policy.name)
            #expect(received == [Self.polkit], "\(policy.name)")
        }
    }
    @Test("a stranger cannot broadcast as the service, and other services of Relay are not silenced")
    func others() async throws {
        let text = try Programs.text("Packaging/dbus-1/system.d/org.eventrelay.Service1.conf")
        let rules = try Self.rules(text, as: nil, owning: "org.example.Garden")
        let received = try await Self.received(
            Self.ownSignals + [Self.otherEvent, Self.otherHead], under: rules, owning: nil)
        #expect(received == [Self.otherEvent, Self.otherHead])
    }
    @Test("the service's user may broadcast all that the service does") func service() async throws {
        for policy in try await Self.policies() {
            let rules = try Self.rules(policy.text, as: policy.user, owning: policy.name)
            let path = policy.object.prefix { $0 != ":" }
            let signals = [
                policy.object + ":Event", "\(path):org.eventrelay.Stream1:Head",
                "\(path):org.freedesktop.DBus.Properties:Changed",
            ]
            #expect(try await Self.received(signals, under: rules, owning: nil) == Set(signals), "\(policy.name)")
        }
        let text = try Programs.text("Packaging/dbus-1/system.d/org.eventrelay.Service1.conf")
        let rules = try Self.rules(text, as: "eventrelay", owning: "org.eventrelay.Service1")
        #expect(try await Self.received(Self.ownSignals, under: rules, owning: nil) == Set(Self.ownSignals))
    }
}
