import Glibc
import RelayCore
import RelayTestKit
import RelayTool
import Synchronization
import TestTraits
import Testing

@testable import relay_cli
@Suite("doctor", .tags(.g8))
struct DoctorTests {
    private typealias World = DoctorWorld
    private static let name = DoctorWorld.name
    private static let owner = DoctorWorld.owner
    private static let interface = "org.eventrelay.Relocation1"

    private func run(
        _ world: World, _ peer: FakePeer? = nil, options: [String] = [], json: Bool = false, columns: Int? = nil,
        hasBus: Bool = true
    ) async -> (code: ExitCode, output: String, notes: [String]) {
        let (notes, pipe) = (Notes(), TestPipe())
        let output = pipe.writing
        let peer = hasBus ? peer ?? world.peer() : nil
        let code = await WaitingThread.run {
            var tool = Tool.tested(output: output, notes, columns: columns, peer: peer) { _, _, _, _, _ in
                FakeFollowed(FakeService())
            }
            tool.facts = world.facts
            tool.environment["XDG_DATA_HOME"] = world.serviceFile
            tool.programs = { _, _ in [Self.owner: "relay-service"] }
            return tool.run(options + (json ? ["doctor", "--json"] : ["doctor"]))
        }.value
        pipe.closeWriting()
        return (code, String(decoding: await pipe.readAll(), as: UTF8.self), notes.lines.withLock { $0 })
    }
    /// The lines about a check.
    private func finding(_ check: String, _ world: World) async -> (code: ExitCode, text: String) {
        let result = await run(world, json: true)
        let lines = result.output.split(separator: "\n").filter { $0.contains("\"check\":\"\(check)\"") }
        return (result.code, lines.joined(separator: "\n"))
    }

    @Test("a healthy service: a line for each check, and code 0") func healthy() async throws {
        let peer = try World().peer()
        let result = await run(try World(), peer)
        #expect(
            result.output == """
                ok       bus          the session bus answers; this program is :1.99
                ok       descriptors  the bus passes file descriptors
                ok       memory       this system seals shared memory
                ok       limits       1,024 descriptors a process
                ok       clock        the system's clock is synchronised
                ok       name         'org.eventrelay.Service1' is owned by :1.5 (relay-service, user 1000, as you are)
                ok       own          you could own the name, as the service's user or an administrator
                ok       send         the service answers: 1 interface
                ok       receive      signals of the service come
                ok       ring         the ring of org.eventrelay.Relocation1 came sealed
                ok       journal      org.eventrelay.Relocation1 keeps 38 events in a file of 9 MiB, which is sound
                ok       disk         3 GiB free for the journal
                ok       versions     relay-cli \(Version.current); both sides know replays and runs

                13 ok, 0 warnings, 0 failed

                """)
        #expect(result.code == .ok && result.notes.isEmpty)
        // It leaves what it attached to, and closes the ring that it opened.
        #expect(peer.calls.contains { $0.member == "CloseRing" })
        #expect(peer.calls.filter { $0.member == "Attach" }.count == 2)
        // It takes no name, for no moment: the service could leave just then.
        #expect(!peer.calls.contains { ["RequestName", "StartServiceByName"].contains($0.member) })
    }

    @Test("peers without a place at a ring are a warning, and no further one is asked for") func places() async throws {
        let world = try World()
        world.journal.change { $0.ringLacking = 936 }
        let peer = world.peer()
        let result = await run(world, peer, json: true)
        #expect(
            result.output.contains(
                "936 peers have no place at the ring of org.eventrelay.Relocation1, and get signals"))
        #expect(!peer.calls.contains { $0.member == "OpenRing" })
    }

    @Test("without a bus the rest that can be examined is, and the code is 1") func noBus() async throws {
        let result = await run(try World(), columns: 60, hasBus: false)
        #expect(
            result.output == """
                failed   bus          no bus
                                      -> name another bus with --bus
                                         ADDRESS, or use --system
                ok       memory       this system seals shared memory
                ok       limits       1,024 descriptors a process
                ok       clock        the system's clock is synchronised
                warning  versions     relay-cli \(Version.current); the service was not
                                      asked for its own
                                      -> do what is advised above, and ask
                                         again

                3 ok, 1 warning, 1 failed

                """)
        #expect(result.code == .refused && result.notes == ["1 check failed: bus"])
    }

    @Test("a service that does not run is not started, whether the bus could or not") func absent() async throws {
        var world = try World()
        world.owner = nil
        world.startable = [Self.name]
        let peer = world.peer()
        let result = await run(world, peer)
        #expect(result.code == .ok && result.notes.isEmpty)
        #expect(
            result.output.hasPrefix(
                """
                ok       bus          the session bus answers; this program is :1.99
                ok       descriptors  the bus passes file descriptors
                ok       memory       this system seals shared memory
                ok       limits       1,024 descriptors a process
                ok       clock        the system's clock is synchronised
                ok       name         nobody owns 'org.eventrelay.Service1' now; the bus starts the service when it is called
                warning  service      it does not run, and is not started by looking at it: policy, journal and disk are not examined
                                      -> start it, for example with 'relay-cli -s org.eventrelay.Service1 list', and ask again

                """))
        #expect(peer.calls.allSatisfy { $0.destination == "org.freedesktop.DBus" && $0.member != "StartServiceByName" })

        world.startable = []
        let missing = await finding("name", world)
        #expect(missing.code == .refused)
        #expect(
            missing.text
                == #"{"check":"name","grade":"failed","service":"org.eventrelay.Service1","text":"nobody owns 'org.eventrelay.Service1', and the bus knows no way "#
                + #"to start it","remedy":"start the service, install its D-Bus service file, or name another with "#
                + #"--service NAME"}"#)
    }

    private static let denied = (name: "AccessDenied", message: "rejected by policy")
    @Test("what is wrong is named, with the remedy: the policy") func policy() async throws {
        var world = try World()
        let closed = BusPolicy(rules: [
            BusPolicy.Rule(context: .user("relay"), allows: true, subject: .owning(.name(Self.name))),
            BusPolicy.Rule(
                context: .group("relay-users"), allows: true,
                subject: .calling(.name(Self.name), interface: nil, member: nil)),
        ])
        world.ownerUser = 0
        let own = await finding("own", world)
        #expect(own.code == .refused && own.text.contains("although the service is another user's"))
        world.facts.policy = { _, _ in closed }
        #expect(
            await finding("own", world).text.contains(
                #""text":"the bus keeps you from taking the name, and lets user 'relay' take it""#))
        world.ownerUser = 1_000
        #expect(
            await finding("own", world).text.contains(#""text":"you may not own the name, although the service is"#))
        world.facts.policy = { _, _ in nil }
        let unknown = await finding("own", world)
        #expect(
            unknown.text.contains(
                #""grade":"warning","service":"\#(Self.name)","text":"not examined who may take the name: the policy of this "#
                    + #"bus is not known here","remedy":"#), "\(unknown)")

        world = try World()
        world.refusals["Introspect"] = Self.denied
        let send = await finding("send", world)
        #expect(send.code == .refused && send.text.contains("does not let user 'alice' call the service: "))
        #expect(send.text.contains("'send_destination'"))
        world.facts.policy = { _, _ in closed }
        let outside = await finding("send", world)
        #expect(
            outside.text.contains(
                #""text":"the bus does not let user 'alice' call the service","remedy":"join the group that may: sudo adduser "#
                    + #"alice relay-users, and log in again"}"#), "\(outside)")
        // Also of a service that does not run, whose bus refuses the call that would start it.
        (world.owner, world.startable) = (nil, [Self.name])
        #expect(await finding("send", world).text.contains("sudo adduser alice relay-users"))

        world = try World()
        world.refusals["Attach"] = Self.denied
        let receive = await finding("receive", world)
        #expect(
            receive.code == .refused && receive.text.contains("user 'alice' may not subscribe to \(Self.interface)"))
        // A service's words make no command.
        world.refusals["Attach"] = (name: "AccessDenied", message: "it is for group 'sudo'")
        let hostile = await finding("receive", world)
        #expect(hostile.text.contains("it is for group 'sudo'") && !hostile.text.contains("adduser"), "\(hostile)")
        world = try World()
        (world.signals, world.heads) = ([], [7, 9])
        let silent = await finding("receive", world)
        #expect(silent.code == .refused && silent.text.contains("published #8 to #9, and no signal came"))
        world.heads = [7]
        let quiet = await finding("receive", world)
        #expect(quiet.code == .ok && quiet.text.contains("nothing was published meanwhile"))
    }
    @Test("what is wrong is named, with the remedy: the system and the journal") func system() async throws {
        var world = try World()
        world.passesDescriptors = false
        world.facts.clockIsSynchronised = { false }
        world.facts.descriptorLimit = { 100 }
        world.features = [.runs]
        for (check, part) in [
            ("descriptors", "the bus passes no file descriptors"), ("clock", "timedatectl set-ntp true"),
            ("limits", "100 descriptors a process"), ("versions", "the service lacks replays"),
        ] {
            let found = await finding(check, world)
            #expect(
                found.code == .ok && found.text.contains(#""grade":"warning""#) && found.text.contains(part), "\(found)"
            )
        }
        world = try World()
        world.journal.change { $0.version = "9.0.0" }
        #expect(
            await finding("versions", world).text.contains(
                #""text":"relay-cli \#(Version.current), the service is built with Relay 9.0.0; both sides know"#))
        world = try World()
        world.facts.sealingFailure = { RelayError(.unavailable, "no memfd") }
        let memory = await finding("memory", world)
        #expect(memory.code == .refused && memory.text.contains("seals no shared memory: no memfd"))
        world = try World()
        world.facts.ringFault = { _ in RelayError(.invalidArgument, "it can shrink") }
        let ring = await finding("ring", world)
        #expect(ring.code == .refused && ring.text.contains("is not sealed: it can shrink"))
        world = try World()
        world.journal.change { $0.storageError = 30 }
        let commits = await finding("disk", world)
        #expect(commits.code == .refused && commits.text.contains("refuses commits: Read-only file system"))
        world = try World()
        world.refusals["Status"] = (name: "Failed", message: "disk")
        let journal = await finding("journal", world)
        #expect(journal.code == .refused && journal.text.contains("does not report its status"))
    }
    @Test("what was not looked at is not called good") func unexamined() async throws {
        var world = try World()
        world.refusals["Introspect"] = Self.denied
        let versions = await finding("versions", world)
        #expect(
            versions.text.contains(#""grade":"warning""#)
                && versions.text.contains("the service was not asked for its own"), "\(versions)")
        world = try World()
        world.journal.change { $0.isChecked = nil }
        let journal = await finding("journal", world)
        #expect(
            journal.code == .ok && journal.text.contains(#""grade":"warning""#)
                && journal.text.contains("does not report whether it is sound"), "\(journal)")
    }
    @Test(
        "the command that it advises asks the bus that it asked",
        arguments: [
            ([], ""), (["--system"], "--system "), (["--bus", "unix:path=/x/bus"], "--bus unix:path=/x/bus "),
            (["--bus", "unix:path=/x;unix:path=/y"], "--bus 'unix:path=/x;unix:path=/y' "),
        ])
    func advisedCommand(options: [String], part: String) async throws {
        var world = try World()
        (world.owner, world.startable) = (nil, [Self.name])
        let result = await run(world, options: options, json: true)
        #expect(result.output.contains("for example with 'relay-cli \(part)-s \(Self.name) list', and"), "\(result)")
    }
    @Test("a unit that cannot start is named, with the reason and what shows more; a program that is missing too")
    func unit() async throws {
        let folder = try TestFolder()
        var world = try World()
        (world.owner, world.startable, world.serviceFile) = (nil, [Self.name], folder.path)
        let services = folder.path + "/dbus-1/services"
        try #require(mkdir(folder.path + "/dbus-1", 0o700) == 0 && mkdir(services, 0o700) == 0)
        let file = open("\(services)/\(Self.name).service", O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        let text = "[D-BUS Service]\nName=\(Self.name)\nX-Relay=true\nExec=/usr/bin/box\nSystemdService=box.service\n"
        #expect(write(file, text, text.utf8.count) == text.utf8.count)
        close(file)
        world.unit = UnitState(active: "failed", sub: "failed", result: "exit-code", end: (1, 73))
        world.facts.lastLine = { unit, _ in unit == "box.service" ? "no room" : nil }
        let failed = await finding("unit", world)
        #expect(
            failed.code == .refused
                && failed.text.contains(
                    #""text":"its unit box.service has failed: exit code 73; its last log line: no room","remedy":"see "#
                        + #"'systemctl --user status box.service' and 'journalctl --user -u box.service'"}"#),
            "\(failed)")
        world.unit = UnitState()
        let idle = await finding("unit", world)
        #expect(idle.code == .ok && idle.text.contains("its unit box.service is inactive (dead), and has not failed"))
        // A bus that has no service manager.
        world.unit = nil
        world.facts.programFile = { _ in .missing }
        #expect(
            await finding("unit", world).text.contains(
                "the bus would run /usr/bin/box, which does not exist: /usr/bin/box"))
    }
    @Test("without a name all services are examined, each under its name") func several() async throws {
        let objects = Samples.objects
        let peer = FakePeer { call throws(RelayError) in
            switch call.member {
            case "ListNames": return FakePeer.names(["org.a.One", "org.b.Two"])
            case "ListActivatableNames": return FakePeer.names([])
            case "Introspect": return FakePeer.text(objects[call.path] ?? "")
            default: throw FakePeer.refusal("UnknownMethod", "no", calling: call)
            }
        }
        let result = await run(try World(), peer)
        #expect(
            result.code == .refused && result.notes == ["2 checks failed: name of org.a.One and name of org.b.Two"])
        #expect(result.output.contains("\norg.a.One\nfailed   name         'org.a.One': "))
        #expect(result.output.contains("\norg.b.Two\nfailed   name         'org.b.Two': "))
        let machine = await run(try World(), peer, json: true)
        #expect(machine.output.contains(#"{"check":"name","grade":"failed","service":"org.b.Two","text":"#))
    }
    @Test("this system can do what the doctor asks of it") func facts() {
        let facts = SystemFacts.ofProcess()
        #expect(facts.sealingFailure() == nil && facts.descriptorLimit() > 0 && facts.userID == geteuid())
        // A file that is no sealed memory.
        #expect(facts.ringFault(ReceivedDescriptor(open("/dev/null", O_RDONLY | O_CLOEXEC))) != nil)
    }
}
