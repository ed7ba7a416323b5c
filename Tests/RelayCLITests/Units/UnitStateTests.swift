import RelayCore
import TestTraits
import Testing

@testable import relay_cli
import RelayWire

@Suite("What follows from a unit's state", .tags(.g8))
struct UnitStateTests {
    @Test(
        "a unit that cannot start is known by its state, with the reason",
        arguments: [
            (UnitState(load: "not-found"), "does not exist"), (UnitState(load: "masked"), "is masked"),
            (UnitState(load: "bad-setting"), "cannot be loaded"),
            (UnitState(active: "failed", sub: "failed", result: "exit-code", end: (1, 73)), "has failed: exit code 73"),
            (
                UnitState(active: "failed", sub: "failed", result: "exit-code", end: (1, 203)),
                "has failed: exit code 203, its program cannot be executed"
            ),
            (
                UnitState(active: "failed", sub: "failed", result: "signal", end: (2, 31)),
                "has failed: ended by signal 31 (Bad system call)"
            ),
            (
                UnitState(active: "failed", sub: "failed", result: "core-dump", end: (3, 11)),
                "has failed: ended by signal 11 (Segmentation fault), with a core dump"
            ),
            (
                UnitState(active: "failed", sub: "failed", result: "start-limit-hit"),
                "has failed: it failed too often, and is tried no more until 'systemctl reset-failed'"
            ),
            (UnitState(active: "failed", result: "watchdog"), "has failed: it did not answer the watchdog"),
            (UnitState(active: "failed", result: "timeout"), "has failed: it was not ready in time"),
            (UnitState(active: "failed", result: "protocol"), "has failed: it ended without becoming ready"),
            (UnitState(active: "failed", result: "resources"), "has failed: the service manager lacked what it needs"),
            (UnitState(active: "failed", result: "oom-kill"), "has failed: memory ran out"),
            (UnitState(active: "failed", result: "odd"), "has failed: result 'odd'"),
            (
                UnitState(active: "activating", sub: "auto-restart", result: "exit-code", end: (1, 74), restarts: 22),
                "fails at each start (22 restarts): exit code 74"
            ),
            (
                UnitState(active: "inactive", failedCheck: "a condition"),
                "was not started: a condition of it does not hold"
            ),
        ] as [(UnitState, String)])
    func fails(state: UnitState, text: String) { #expect(state.verdict() == .fails(text)) }

    @Test("one that starts, runs or has not been asked for is no failure")
    func others() {
        #expect(UnitState(active: "active", sub: "running").verdict() == .runs)
        #expect(UnitState(active: "activating", sub: "start").verdict() == .starts)
        // A start that may take long, after others that have failed: it is not known how this one ends.
        let slow = UnitState(active: "activating", sub: "start", restarts: 2)
        #expect(slow.verdict() == .starts && slow.verdict(since: slow) == .starts)
        #expect(UnitState(active: "failed", sub: "failed", result: "exit-code", hasJob: true).verdict() == .starts)
        #expect(UnitState(active: "deactivating", sub: "stop-sigterm").verdict() == .starts)
        #expect(UnitState().verdict() == .idle)
        #expect(UnitState(hasJob: true, failedCheck: "a condition").verdict() == .starts)
    }
    @Test("a start that has failed between two looks shows by the number of restarts")
    func between() {
        var later = UnitState(active: "activating", sub: "start", restarts: 3)
        #expect(
            later.verdict(since: UnitState(active: "activating", sub: "start", restarts: 2))
                == .fails("fails at each start (3 restarts)"))
        later.active = "active"
        #expect(later.verdict(since: UnitState(restarts: 2)) == .runs)
    }
    @Test("the state is read from systemd's properties, and what is missing or of another type is left out")
    func properties() {
        let state = UnitState(
            unit: [
                "LoadState": .string("loaded"), "ActiveState": .string("inactive"), "SubState": .string("dead"),
                "Job": .structure([.uint32(7), .objectPath("/job/7")]), "ConditionResult": .boolean(false),
                "ConditionTimestampMonotonic": .uint64(5), "AssertResult": .boolean(false),
                "AssertTimestampMonotonic": .uint64(0),
            ],
            service: [
                "Result": .string("exit-code"), "ExecMainCode": .int32(1), "ExecMainStatus": .int32(73),
                "NRestarts": .uint32(4), "StatusText": .string("no room"),
            ])
        #expect(
            state
                == UnitState(
                    result: "exit-code", end: (1, 73), restarts: 4, text: "no room", hasJob: true,
                    failedCheck: "a condition"))
        #expect(UnitState(unit: ["ActiveState": .uint32(1)], service: ["Result": .boolean(true)]) == UnitState())
    }
    @Test("a unit's program is its last one, unless it is a file of another root") func program() {
        func command(_ path: String, _ arguments: [String]) -> DBusValue {
            .structure([.string(path), .array(.string, arguments.map { .string($0) }), .boolean(false)])
        }
        let type = DBusType.structure([.string, .array(.string), .boolean])
        let starts = DBusValue.array(type, [command("/bin/first", ["first"]), command("/bin/b", ["@b", "-a", "c d"])])
        #expect(UnitState(unit: [:], service: ["ExecStart": starts]).command == ["/bin/b", "-a", "c d"])
        for root in ["RootDirectory", "RootImage"] {
            #expect(UnitState(unit: [:], service: ["ExecStart": starts, root: .string("/srv/b")]).command == [])
        }
        #expect(UnitState(unit: [:], service: ["ExecStart": .array(type, [])]).command == [])
        #expect(UnitState(unit: [:], service: ["ExecStart": .string("/bin/b")]).command == [])
    }
    @Test("a D-Bus service file names the unit, the program, and how relay-cli counts the service")
    func serviceFile() {
        let file = ServiceFile(
            """
            # A comment.
            [D-BUS Service]
            Name = org.a.B
            X-Relay = true
            Exec=/usr/bin/b --session
            SystemdService = b.service
            [Other]
            Exec=/bin/other
            """)
        #expect(file.kind == .relay && file.unit == "b.service" && file.exec == "/usr/bin/b --session")
        #expect(file.command == ["/usr/bin/b", "--session"])
        let other = ServiceFile("[D-BUS Service]\nX-Relay=secondary\nSystemdService=\nExec=\"/a b\" c")
        #expect(other.kind == .secondary && other.unit == nil)
        #expect(other.command == ["/a b", "c"] && ServiceFile("[D-BUS Service]\nExec='/a").command == [])
        #expect(ServiceFile("X-Relay=true").kind == .other)
    }
    @Test(
        "a D-Bus service file is read as a bus reads it: case counts",
        arguments: ["x-relay=true", "X-RELAY=true", "X-Relay=True", "X-Relay=Secondary", "X-Relay=1", "X-Relay="])
    func serviceFileCase(line: String) {
        let file = ServiceFile("[D-BUS Service]\n\(line)\nexec=/a\nsystemdservice=a.service\n")
        #expect(file.kind == .other && file.exec == nil && file.unit == nil)
        #expect(ServiceFile("[D-Bus Service]\nX-Relay=true\n").kind == .other)
        #expect(
            ServiceFile("[D-BUS Service]\nX-Relay=true\n\(line)\n").kind
                == (line.hasPrefix("X-Relay=") ? .other : .relay))
    }
}
