import RelayCore
import RelayTool
import Synchronization
import TestTraits
import Testing

@testable import relay_cli
import RelayWire

@Suite("Which service is meant", .tags(.g8))
struct ServiceFinderTests {
    /// A bus with these programs on it, by name; each has its objects, and these can be started.
    private func bus(
        _ running: [String: [String: String]], startable: [String] = []
    ) -> FakePeer {
        FakePeer { call throws(RelayError) in
            switch call.member {
            case "ListNames": return FakePeer.names(["org.freedesktop.DBus", ":1.1"] + running.keys.sorted())
            case "ListActivatableNames": return FakePeer.names(["org.freedesktop.systemd1"] + startable)
            default:
                guard let xml = running[call.destination]?[call.path] else {
                    throw FakePeer.refusal("UnknownObject", "no such object", calling: call)
                }
                return FakePeer.text(xml)
            }
        }
    }
    /// A tree that has its only interface two steps below the root.
    private static func objects(_ interface: String) -> [String: String] {
        [
            "/": "<node><node name=\"org\"/></node>", "/org": "<node><node name=\"Thing\"/></node>",
            "/org/Thing": "<node><interface name=\"\(interface)\"/></node>",
        ]
    }
    private let relay = objects(Stream1.name)
    private let other = objects("org.example.Other")

    private func found(_ peer: FakePeer, files: [String: String] = [:]) throws -> [FoundService] {
        try ServiceFinder(peer: peer) { files[$0] }.services()
    }

    @Test("services of Relay are those of which an object has Stream1, and those that their files mark") func finds()
        throws
    {
        let bus = bus(
            ["org.a.Shop": relay, "org.b.Player": other], startable: ["org.c.Old", "org.d.Lazy", "org.a.Shop"])
        let services = try found(
            bus,
            files: [
                "org.d.Lazy": "[D-BUS Service]\nX-Relay = true\n", "org.c.Old": "Name=org.c.Old\n",
                "org.a.Shop": "[D-BUS Service]\nX-Relay=secondary\n",
            ])
        #expect(
            services == [
                FoundService(name: "org.a.Shop", isRunning: true, isSecondary: true),
                FoundService(name: "org.d.Lazy", isRunning: false),
            ])
    }
    @Test("a bus's name that is none is left out, and no file is read for it") func hostileNames() throws {
        let bus = bus([:], startable: ["../../../tmp/evil", "org.a b.C", "nodots", "org.d.Lazy"])
        var asked: [String] = []
        let services = try ServiceFinder(peer: bus) { name in
            asked.append(name)
            return "[D-BUS Service]\nX-Relay=true\n"
        }.services()
        #expect(services.map(\.name) == ["org.d.Lazy"])
        #expect(Set(asked) == ["org.d.Lazy"])
    }
    @Test("the reference service needs no proof, running or not") func standard() throws {
        #expect(
            try found(bus([ServiceFinder.standard: other]))
                == [FoundService(name: ServiceFinder.standard, isRunning: true)])
        #expect(
            try found(bus([:], startable: [ServiceFinder.standard]))
                == [FoundService(name: ServiceFinder.standard, isRunning: false)])
    }
    @Test("a service that is late is asked again, so that another is not the only one") func late() throws {
        let asked = Mutex(0)
        let tree = relay
        let bus = FakePeer { call throws(RelayError) in
            switch call.member {
            case "ListNames": return FakePeer.names(["org.a.Busy", "org.b.Ready", "org.c.Stopped"])
            case "ListActivatableNames": return FakePeer.names([])
            default:
                let isFirst = asked.withLock { count in
                    count += call.destination == "org.a.Busy" ? 1 : 0
                    return count == 1
                }
                if call.destination == "org.c.Stopped" || (call.destination == "org.a.Busy" && isFirst) {
                    throw RelayError(.timedOut, "no answer")
                }
                return FakePeer.text(tree[call.path] ?? "<node/>")
            }
        }
        #expect(try found(bus).map(\.name) == ["org.a.Busy", "org.b.Ready"])
    }
    @Test("of new services only those are asked that have not answered, or have another owner") func new() throws {
        let state = Mutex((names: ["org.a.Busy", "org.b.Player"], late: ["org.a.Busy"], owners: [String: String]()))
        let (tree, plain) = (relay, other)
        let bus = FakePeer { call throws(RelayError) in
            let (names, late, owners) = state.withLock { $0 }
            switch call.member {
            case "ListNames": return FakePeer.names(names)
            case "ListActivatableNames": return FakePeer.names(["org.b.Player", "org.d.Lazy", "../evil"])
            case "GetNameOwner":
                let name = try BusReply(sender: "", signature: "s", body: call.body).read("s") { try $0.string() }
                return FakePeer.text(owners[name] ?? ":1.\(name.utf8.count)")
            default:
                if late.contains(call.destination) { throw RelayError(.timedOut, "no answer") }
                let isRelay = call.destination == "org.a.Busy" || owners[call.destination] != nil
                return FakePeer.text((isRelay ? tree : plain)[call.path] ?? "<node/>")
            }
        }
        var finder = ServiceFinder(peer: bus) { _ in nil }
        func asked(_ name: String) -> Int { bus.calls.count { $0.destination == name } }
        #expect(try finder.newServices() == [] && finder.hasLate)
        let (busy, player) = (asked("org.a.Busy"), asked("org.b.Player"))
        #expect(player > 0)
        #expect(try finder.newServices() == [] && finder.hasLate)
        #expect(asked("org.a.Busy") == busy + 1 && asked("org.b.Player") == player)
        // Another program has taken the name: it may be one of Relay.
        state.withLock { $0.owners["org.b.Player"] = ":1.77" }
        #expect(try finder.newServices().map(\.name) == ["org.b.Player"])
        state.withLock { $0.late = [] }
        #expect(try finder.newServices().map(\.name) == ["org.a.Busy"] && !finder.hasLate)
        let all = bus.calls.count
        #expect(try finder.newServices() == [])
        #expect(bus.calls[all...].allSatisfy { $0.destination == "org.freedesktop.DBus" })
        // Left, and come back.
        state.withLock { $0.names = ["org.b.Player"] }
        #expect(try finder.newServices() == [])
        state.withLock { $0.names.append("org.a.Busy") }
        #expect(try finder.newServices().map(\.name) == ["org.a.Busy"])
    }
    /// The service that a watch which names none waits for.
    private func found(by bus: FakePeer, end: ContinuousClock.Instant?) async throws -> String? {
        let (notes, pipe, wakeup) = (Notes(), TestPipe(), try Wakeup())
        let output = pipe.writing
        defer { pipe.closeWriting() }
        return await WaitingThread.run {
            let tool = Tool.tested(output: output, notes, peer: bus) { _, _, _, _, _ in FakeFollowed(FakeService()) }
            let wait = ServiceWait(
                tool: tool, bus: .session, timeout: .seconds(5), stop: wakeup.descriptor, end: end,
                // No signal of the bus wakes it here: what it has not forgotten it asks again by itself.
                pauses: .init(look: .seconds(3_600), retry: .milliseconds(1)))
            return try? wait.service()
        }.value
    }
    @Test("a watch that names no service waits for one that is late, and forgets none")
    func wait() async throws {
        let asked = Mutex(0)
        let tree = relay
        let bus = FakePeer { call throws(RelayError) in
            switch call.member {
            case "ListNames": return FakePeer.names(["org.a.Busy"])
            case "ListActivatableNames": return FakePeer.names([])
            case "GetNameOwner": return FakePeer.text(":1.5")
            default:
                // Four looks.
                let count = asked.withLock { count in
                    count += 1
                    return count
                }
                if count <= 5 { throw RelayError(count == 4 ? .limitsExceeded : .timedOut, "no answer") }
                return FakePeer.text(tree[call.path] ?? "<node/>")
            }
        }
        #expect(try await found(by: bus, end: nil) == "org.a.Busy")
    }
    @Test("a program that stands still for ever keeps no watch from a service that was late once")
    func waitBesideTheStopped() async throws {
        let asked = Mutex(0)
        let tree = relay
        let bus = FakePeer(waitsForLate: true) { call throws(RelayError) in
            switch call.member {
            case "ListNames": return FakePeer.names(["org.a.Busy", "org.c.Stopped"])
            case "ListActivatableNames": return FakePeer.names([])
            case "GetNameOwner": return FakePeer.text(":1.5")
            default:
                // Both times of the first look.
                let isLate = asked.withLock { count in
                    count += call.destination == "org.a.Busy" ? 1 : 0
                    return count <= 2
                }
                if isLate || call.destination == "org.c.Stopped" { throw RelayError(.timedOut, "no answer") }
                return FakePeer.text(tree[call.path] ?? "<node/>")
            }
        }
        #expect(try await found(by: bus, end: .now + .seconds(60)) == "org.a.Busy")
    }
    @Test("who waits at the tab key waits for no service that is late: all questions are within that time")
    func impatient() throws {
        let tree = relay
        let bus = FakePeer { call throws(RelayError) in
            switch call.member {
            case "ListNames": return FakePeer.names(["org.b.Ready", "org.c.Stopped"])
            case "ListActivatableNames": return FakePeer.names([])
            default:
                if call.destination == "org.c.Stopped" { throw RelayError(.timedOut, "no answer") }
                return FakePeer.text(tree[call.path] ?? "<node/>")
            }
        }
        // More than it takes here, however busy the machine is; what counts are the times that it asks for.
        let patience = Duration.seconds(300)
        #expect(try ServiceFinder(peer: bus) { _ in nil }.services(within: patience).map(\.name) == ["org.b.Ready"])
        let waits = bus.waits.withLock { $0 }
        // One that stands still uses up no more than half of it: the objects of others are asked in several rounds.
        #expect(waits.first == patience && waits.dropFirst().allSatisfy { $0 <= patience / 2 } && waits.count == 4)
        #expect(bus.calls.count { $0.destination == "org.c.Stopped" } == 1)
        #expect(Completion.searchLimit < Completion.limit && Completion.limit == .milliseconds(100))
    }
    @Test("a tree without end, and texts that are none, cost a bounded number of questions") func endless() throws {
        let bus = FakePeer { call throws(RelayError) in
            switch call.member {
            case "ListNames": FakePeer.names(["org.a.Endless", "org.b.Broken"])
            case "ListActivatableNames": FakePeer.names([])
            default:
                FakePeer.text(
                    call.destination == "org.b.Broken" ? "<node" : "<node><node name=\"a\"/><node name=\"b\"/></node>")
            }
        }
        #expect(try found(bus) == [])
        #expect(bus.calls.count < 100)
    }
    @Test("the only one is taken, none leaves the reference service, several are listed") func choice() throws {
        #expect(try ServiceFinder.choice(of: []) == "org.eventrelay.Service1")
        #expect(try ServiceFinder.choice(of: [FoundService(name: "a.b", isRunning: false)]) == "a.b")
        // A secondary service counts only where it is the only one.
        let second = FoundService(name: "c.d", isRunning: true, isSecondary: true)
        #expect(try ServiceFinder.choice(of: [second, FoundService(name: "a.b", isRunning: false)]) == "a.b")
        #expect(try ServiceFinder.choice(of: [second]) == "c.d")
        #expect(throws: CLIFailure.self) { try ServiceFinder.choice(of: [second, second]) }
        let failure = #expect(throws: CLIFailure.self) {
            try ServiceFinder.choice(of: [
                FoundService(name: "a.b", isRunning: true), FoundService(name: "c.d", isRunning: false),
            ])
        }
        #expect(
            failure
                == CLIFailure(
                    .usage,
                    "there are several services: a.b and c.d (not running); name one with --service NAME or in RELAY_SERVICE"
                ))
    }
    @Test("the folders of service files are those of the D-Bus specification") func folders() {
        #expect(
            ServiceFinder.folders(
                of: .session,
                environment: ["XDG_RUNTIME_DIR": "/run/user/1", "HOME": "/home/a", "XDG_DATA_DIRS": "/x:/y"])
                == [
                    "/run/user/1/dbus-1/services", "/home/a/.local/share/dbus-1/services", "/x/dbus-1/services",
                    "/y/dbus-1/services",
                ])
        #expect(
            ServiceFinder.folders(of: .system, environment: ["XDG_DATA_DIRS": "/x"])
                == ["/etc", "/run", "/usr/local/share", "/usr/share", "/lib", "/x"].map {
                    $0 + "/dbus-1/system-services"
                })
    }

    private final class Asked: Sendable {
        let name = Mutex<String?>(nil)
    }
    /// What a program asks for, with this environment and bus; nil where it ends before.
    private func asked(
        _ arguments: [String], environment: [String: String] = [:], _ peer: FakePeer
    ) async throws -> (service: String?, code: ExitCode, notes: [String]) {
        let (notes, service, pipe) = (Notes(), Asked(), TestPipe())
        let output = pipe.writing
        let code = await WaitingThread.run {
            let tool = Tool.tested(
                environment: Tool.testedEnvironment.merging(environment) { $1 }, output: output, notes, peer: peer
            ) { name, _, _, _, _ in
                service.name.withLock { $0 = name }
                return FakeFollowed(FakeService())
            }
            return tool.run(arguments)
        }.value
        pipe.closeWriting()
        return (service.name.withLock { $0 }, code, notes.lines.withLock { $0 })
    }
    @Test("--service and -s come first, then RELAY_SERVICE, then the only service of the bus") func order() async throws
    {
        let one = bus(["org.a.Shop": relay, "org.b.Player": other])
        #expect(try await asked(["list", "-s", "x.y"], environment: ["RELAY_SERVICE": "u.v"], one).service == "x.y")
        #expect(try await asked(["list", "--service", "x.y"], one).service == "x.y")
        #expect(try await asked(["list"], environment: ["RELAY_SERVICE": "u.v"], one).service == "u.v")
        // `list` looks for mirrors among the names; no service is asked.
        #expect(one.calls.allSatisfy { $0.destination == "org.freedesktop.DBus" })
        #expect(try await asked(["list"], environment: ["RELAY_SERVICE": ""], one).service == "org.a.Shop")
        #expect(one.calls.allSatisfy { $0.member != "StartServiceByName" })
        #expect(try await asked(["list"], bus([:])).service == "org.eventrelay.Service1")

        let several = try await asked(["list"], bus(["org.a.Shop": relay, "org.b.Till": relay]))
        #expect(several.service == nil && several.code == .usage)
        #expect(
            several.notes == [
                "there are several services: org.a.Shop and org.b.Till; name one with --service NAME or in RELAY_SERVICE"
            ])
        let wrong = try await asked(["list"], environment: ["RELAY_SERVICE": "nodots"], one)
        #expect(
            wrong.code == .usage
                && wrong.notes == ["RELAY_SERVICE: 'nodots' is no bus name; one looks like org.eventrelay.Service1"])
    }
}
