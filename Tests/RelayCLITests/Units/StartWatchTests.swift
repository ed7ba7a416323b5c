import Glibc
import RelayCore
import RelayTestKit
import RelayTool
import Synchronization
import TestTraits
import Testing

@testable import relay_cli
import RelayWire

@Suite("A call that waits for a service to start", .tags(.g8))
struct StartWatchTests {
    private static let name = "org.a.Shop"
    private static let unit = "shop.service"

    /// A bus with a service manager, whose unit is in these states, one after the other; the last one stays.
    private final class Manager: Sendable {
        private let states: Mutex<[[String: DBusValue]]>
        let isOwned = Mutex(false)
        init(_ states: [[String: DBusValue]]) { self.states = Mutex(states) }

        func answer(_ call: MethodCall) throws(RelayError) -> BusReply {
            switch call.member {
            case "GetNameOwner":
                if isOwned.withLock({ $0 }) { return FakePeer.text(":1.7") }
                throw FakePeer.refusal("NameHasNoOwner", "no owner", calling: call)
            case "GetUnit":
                if states.withLock({ $0.isEmpty }) {
                    throw ErrorNames.relayError(
                        RemoteError(name: "org.freedesktop.systemd1.NoSuchUnit", message: "no"), calling: call.member)
                }
                return FakePeer.reply("o") { try $0.objectPath("/unit") }
            case "GetUnitFileState":
                throw FakePeer.refusal("FileNotFound", "No such file or directory", calling: call)
            case "GetAll":
                let isUnit = call.body.contains(UInt8(ascii: "U"))
                let all = states.withLock { states in
                    isUnit || states.count == 1 ? states[0] : states.removeFirst()
                }
                let entries = all.map { DBusValue.Entry(key: .string($0.key), value: .variant($0.value)) }
                return FakePeer.reply("a{sv}") {
                    try DBusValue.encode([.dictionary(.dictionary(.string, .variant), entries)], into: &$0)
                }
            default: throw FakePeer.refusal("UnknownMethod", "no such method", calling: call)
            }
        }
        func probe(
            line: String? = nil, on bus: BusChoice = .system, of busUser: UInt32 = geteuid(), file: String? = nil
        ) -> UnitProbe {
            var facts = SystemFacts.ofProcess()
            facts.lastLine = { unit, _ in unit == StartWatchTests.unit ? line : nil }
            facts.programFile = { path in
                switch path {
                case "/missing": .missing
                case "/plain": .notExecutable
                case "/closed": .closed
                default: .executable
                }
            }
            let peer = FakePeer(busUser: busUser) { call throws(RelayError) in try self.answer(call) }
            let text = file ?? "[D-BUS Service]\nExec=/bin/false\nSystemdService=\(StartWatchTests.unit)\n"
            return UnitProbe(peer: peer, on: bus, facts: facts) { $0 == StartWatchTests.name ? text : nil }
        }
    }
    private static let failed: [String: DBusValue] = [
        "ActiveState": .string("failed"), "Result": .string("exit-code"), "ExecMainCode": .int32(1),
        "ExecMainStatus": .int32(73), "StatusText": .string("the journal cannot be opened"),
    ]
    private static let starting: [String: DBusValue] = [
        "ActiveState": .string("activating"), "SubState": .string("start"),
    ]

    private func watch(_ probe: UnitProbe) -> StartWatch {
        StartWatch(Self.name, delay: .zero, interval: .milliseconds(1)) { probe }
    }
    /// A call that nobody answers.
    private static let unanswered: @Sendable () async throws -> Int = {
        try await Task.sleep(for: .seconds(3_600))
        return 0
    }

    @Test("it ends as soon as the unit has failed, with the unit, its reason, its words and where to see more")
    func failure() async throws {
        let manager = Manager([Self.starting, Self.starting, Self.failed])
        let failure = await #expect(throws: StartFailure.self) {
            try await watch(manager.probe(line: "cannot open /var/lib/x")).run(Self.unanswered)
        }
        #expect(
            failure?.reason.sentence
                == "its unit shop.service has failed: exit code 73; it reported: the journal cannot be opened; its last log "
                + "line: cannot open /var/lib/x; see 'systemctl status shop.service' and 'journalctl -u shop.service'")
    }
    @Test("a log that this user may not read is root's matter; a user's unit is that user's")
    func log() {
        let manager = Manager([Self.failed])
        func remedy(_ probe: UnitProbe) -> String? { probe.reason(probe.look(Self.name))?.remedy }
        #expect(
            remedy(manager.probe())
                == "see 'systemctl status shop.service' and 'journalctl -u shop.service' as root")
        #expect(
            remedy(manager.probe(on: .session))
                == "see 'systemctl --user status shop.service' and 'journalctl --user -u shop.service'")
        // The system's bus, by its address.
        #expect(
            remedy(manager.probe(on: .address("unix:path=/x"), of: geteuid() + 1))
                == "see 'systemctl status shop.service' and 'journalctl -u shop.service' as root")
        let missing = Manager([]).probe()
        #expect(
            missing.reason(missing.look(Self.name))?.sentence
                == "its unit shop.service does not exist; see 'systemctl status shop.service'")
    }
    @Test("a call that is answered returns, however its unit is; one whose service runs is waited for")
    func answered() async throws {
        #expect(try await watch(Manager([Self.failed]).probe()).run { 7 } == 7)
        let manager = Manager([Self.failed])
        manager.isOwned.withLock { $0 = true }
        let asked = Mutex(0)
        let watch = StartWatch(Self.name, delay: .zero, interval: .milliseconds(1)) {
            asked.withLock { $0 += 1 }
            return manager.probe()
        }
        let reply = try await watch.run {
            while asked.withLock({ $0 }) == 0 { await Task.yield() }
            return 8
        }
        #expect(reply == 8)
    }
    @Test("a bus without a service manager runs the program itself: its error, and the command line")
    func plain() async {
        let file = "[D-BUS Service]\nExec=/bin/shop --title \"a b\"\n"
        let reason = await watch(Manager([]).probe(file: file)).reason(afterFailure: "it exited with status 1")
        #expect(
            reason.sentence
                == "it exited with status 1; run /bin/shop, which exists and is executable, to see why: "
                + "/bin/shop --title 'a b'")
        for (program, why, remedy) in [
            ("/missing", "does not exist", "install the program, or correct Exec="),
            ("/plain", "nobody may execute", "make it executable, or correct Exec="),
            ("/closed", "this user may not execute", "make it executable, or correct Exec="),
        ] {
            let probe = Manager([]).probe(on: .session, file: "[D-BUS Service]\nExec=\(program) --session\n")
            #expect(
                probe.reason(probe.look(Self.name))?.sentence
                    == "the bus would run \(program), which \(why): \(program) --session; \(remedy)")
        }
        let unknown = await watch(Manager([]).probe(file: "")).reason(afterFailure: "no")
        #expect(unknown.remedy == "see its D-Bus service file, and its log")
    }
    @Test("a program that this user may not execute starts, where the bus runs it as another user")
    func otherUsersProgram() async throws {
        func reason(_ program: String, on bus: BusChoice, busUser: UInt32?) -> UnitProbe.Reason? {
            let peer = FakePeer(busUser: busUser) { call throws(RelayError) in try Manager([]).answer(call) }
            var facts = SystemFacts.ofProcess()
            facts.programFile = { $0 == "/closed" ? .closed : .notExecutable }
            let file = "[D-BUS Service]\nExec=\(program)\nUser=shop\n"
            let probe = UnitProbe(peer: peer, on: bus, facts: facts) { _ in file }
            return probe.reason(probe.look(Self.name))
        }
        let own = geteuid()
        #expect(reason("/closed", on: .session, busUser: own) != nil)
        #expect(reason("/closed", on: .system, busUser: own) == nil)
        for user in [own + 1, nil] { #expect(reason("/closed", on: .address("unix:path=/x"), busUser: user) == nil) }
        #expect(reason("/plain", on: .system, busUser: own + 1) != nil)
        // So a call waits for the bus's answer.
        let asked = Mutex(0)
        let probe = Manager([]).probe(file: "[D-BUS Service]\nExec=/closed\nUser=shop\n")
        let watch = StartWatch(Self.name, delay: .zero, interval: .milliseconds(1)) {
            asked.withLock { $0 += 1 }
            return probe
        }
        let reply = try await watch.run {
            while asked.withLock({ $0 }) == 0 { await Task.yield() }
            return 8
        }
        #expect(reply == 8)
    }
    @Test("a unit's program is shown with its arguments, and whether it is there")
    func program() {
        func text(_ words: String...) -> String? {
            let command = DBusValue.structure([
                .string(words[0]), .array(.string, words.map { .string($0) }), .boolean(false),
            ])
            var properties = Self.failed
            properties["ExecStart"] = .array(.structure([.string, .array(.string), .boolean]), [command])
            properties["StatusText"] = .string("")
            let probe = Manager([properties]).probe()
            return probe.reason(probe.look(Self.name))?.text
        }
        let failed = "its unit shop.service has failed: exit code 73; it runs "
        #expect(
            text("/bin/false", "--title", "a b")
                == "\(failed)/bin/false, which exists and is executable: /bin/false --title 'a b'")
        #expect(text("/missing") == "\(failed)/missing, which does not exist: /missing")
        #expect(text("/plain") == "\(failed)/plain, which nobody may execute: /plain")
        #expect(text("/closed") == "\(failed)/closed, which this user may not execute: /closed")
    }
    @Test(
        "a command line is read as a bus reads it",
        arguments: [
            ("/bin/shop", ["/bin/shop"]), ("  /bin/shop \t -a  ", ["/bin/shop", "-a"]),
            (#"'/a b/c' "d 'e'" f\ g ''"#, ["/a b/c", "d 'e'", "f g", ""]),
            (#""a\"b\c" 'd\e'"#, [#"a"b\c"#, #"d\e"#]), ("", []), ("/bin/sh -c 'x", nil), ("x\\", nil),
        ] as [(String, [String]?)])
    func words(line: String, words: [String]?) { #expect(StartProgram.words(of: line) == words) }
    @Test("a program's file is looked at") func files() throws {
        #expect(ProgramFile.at("/bin/false") == .executable)
        #expect(ProgramFile.at("/nonexistent/program") == .missing)
        #expect(ProgramFile.at("/etc/passwd") == .notExecutable && ProgramFile.at("/etc") == .notExecutable)
        let folder = try TestFolder()
        try folder.write("", to: "program")
        let path = folder.path + "/program"
        // Root may execute what anybody may.
        let (isRoot, otherwise) = (geteuid() == 0, ProgramFile.closed)
        for (mode, expected) in [
            (0o600, .notExecutable), (0o700, .executable), (0o601, isRoot ? .executable : otherwise),
        ]
            as [(mode_t, ProgramFile)]
        {
            try #require(chmod(path, mode) == 0)
            #expect(ProgramFile.at(path) == expected, "\(String(mode, radix: 8))")
        }
        #expect(isRoot || ProgramFile.at("/root/program") == .closed)
    }
    @Test("what a program writes is read, and one that does not end is not waited for") func output() {
        #expect(UnitLog.output(of: "/bin/echo", ["a", "b"]) == "a b\n")
        #expect(UnitLog.output(of: "/nonexistent/program", []) == nil)
        #expect(UnitLog.output(of: "/bin/sleep", ["600"]) == nil)
    }
}
