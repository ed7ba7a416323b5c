import Glibc
import RelayTestKit
import Synchronization
import TestTraits
import Testing

@testable import RelayCore

enum OfUnit1: EventInterface {
    static let name = "org.example.OfUnit1"
    static let durability = Volatile()
    static var requirement: PeerRequirement { .systemdUnit(ProcessFDBus.unit) }
    static var contract: Contract<Self> {
        UnitTold.self
        UnitDo.self
    }
}
struct UnitTold: DomainEvent {
    typealias Interface = OfUnit1
    var number: Int64
}
struct UnitDo: Command { typealias Interface = OfUnit1 }

/// A bus that reports a descriptor of each peer's process, which Debian 12's own do not.
final class ProcessFDBus: Sendable {
    static let unit = "relay-test-\(getpid()).service"
    let bus: Bus
    let address: String
    /// What is kept as long as the bus runs.
    private let kept: [any Sendable]
    private let process: RunningProgram?

    /// A stand-in, which works wherever the kernel does.
    ///
    /// - Parameter refusals: for how many questions about its user, and about its figures, it has no room at first.
    init(refusals: Int = 0) async throws {
        let folder = try TestFolder()
        kept = [folder]
        chmod(folder.path, 0o755)
        address = "unix:path=\(folder.path)/bus"
        bus = .address(address)
        let program = "\(#filePath)".replacing("SystemdUnitTests.swift", with: "process_fd_bus.py")
        let process = try RunningProgram("/usr/bin/python3", [program, "\(folder.path)/bus", "\(refusals)"])
        self.process = process
        try await process.line(containing: "ready")
    }
    /// This Debian's dbus-daemon, for every user. From 13 on, it reports processes.
    init(daemon: Void) throws {
        let daemon = try PrivateBus(
            limits: .session, policy: "<policy context=\"default\"><allow user=\"*\"/></policy>")
        chmod(daemon.directory, 0o755)
        (bus, address, kept, process) = (daemon.bus, daemon.address, [daemon], nil)
    }
    deinit { process?.signal(SIGKILL) }

    /// Where the unified hierarchy is mounted; nil: nowhere where this process may make a group.
    private static let groups: String? = ["/sys/fs/cgroup/unified", "/sys/fs/cgroup"].first { folder in
        access("\(folder)/cgroup.procs", W_OK) == 0 && access("\(folder)/cgroup.controllers", F_OK) == 0
    }
    /// Why a test cannot have a unit of its own; nil if it can.
    static let obstacle: String? = {
        if geteuid() != 0 { return "needs root, to become another user" }
        return groups == nil ? "needs a cgroup2 hierarchy in which it may make groups" : nil
    }()
    /// Calls as a user, from within the control group of a unit; of none, from this process's.
    func call(as user: String, in unit: String?, _ arguments: String...) async throws -> RunningProgram.Outcome {
        let call =
            [
                "setpriv", "--reuid=\(user)", "--regid=\(user)", "--clear-groups", "busctl", "--address=\(address)",
                "--timeout=20", "call", WatchedDesk.name,
            ] + arguments
        guard let unit, let groups = Self.groups else {
            return try await RunningProgram.run(call[0], Array(call.dropFirst()))
        }
        let group = "\(groups)/\(unit)"
        mkdir(group, 0o755)
        defer { rmdir(group) }
        return try await RunningProgram.run(
            "sh", ["-c", "echo $$ > \"$1/cgroup.procs\" || exit 99; shift; exec \"$@\"", "sh", group] + call)
    }
}

@Suite("Requirements on systemd units", .heavy, .tags(.g7)) struct SystemdUnitTests {
    private func reportsProcesses(_ bus: Bus) async throws -> Bool {
        let peer = try await BusStranger.join(bus)
        let reply = try await peer.connection.call(PeerCredentials.request(for: peer.connection.uniqueName))
        return !reply.descriptors.isEmpty
    }

    @Test("on a bus that reports no processes neither a service nor a relay begins, and both say why") func oldBus()
        async throws
    {
        let bus = try PrivateBus()
        // A newer bus than Debian 12's: the test of one that reports them is below.
        if try await reportsProcesses(bus.bus) { return }
        let service = try EventService(name: WatchedDesk.name, on: bus.bus, exporting: OfUnit1.self)
        service.handle(UnitDo.self) { _, _ in }
        do {
            try await service.start()
            Issue.record("it has started")
        } catch {
            let error = try #require(error as? RelayError)
            #expect(error.code == .unavailable)
            for part in [
                OfUnit1.name, ProcessFDBus.unit, "dbus-daemon, process \(bus.processID)", "dbus-broker 34",
                "user or a group",
            ] {
                #expect(error.message.contains(part), "\(error)")
            }
        }
        let peer = try await BusStranger.join(bus.bus)
        #expect(try await !peer.hasOwner(WatchedDesk.name))
        let desk = try await Desk(bus)
        let relay = try EventRelay(
            following: Desk.name, on: bus.bus, interfaces: Desk1.self, requiring: .systemdUnit(ProcessFDBus.unit))
        relay.activate()
        do {
            _ = try await relay.outcome(of: Echo(text: "x")).get()
            Issue.record("it was answered")
        } catch {
            #expect("\(error)".contains("ProcessFD"), "\(error)")
        }
        #expect(desk.notes == [])
        relay.invalidate()
        try await desk.stop()
    }
    @Test(
        "G7: a process of the unit is admitted, whoever it runs as, and no other",
        .enabled(if: ProcessFDBus.obstacle == nil, "\(ProcessFDBus.obstacle ?? "")"))
    func units() async throws {
        let standIn = try await ProcessFDBus()
        #expect(try await reportsProcesses(standIn.bus))
        try await expectUnits(on: standIn)
        let daemon = try ProcessFDBus(daemon: ())
        if try await reportsProcesses(daemon.bus) { try await expectUnits(on: daemon) }
    }
    private func expectUnits(on bus: ProcessFDBus) async throws {
        let service = try EventService(name: WatchedDesk.name, on: bus.bus, exporting: OfUnit1.self)
        let users = Mutex<[UInt32?]>([])
        service.handle(UnitDo.self) { _, context in users.withLock { $0.append(context.peer.userID) } }
        try await service.start()
        let path = WatchedDesk.path(OfUnit1.name)
        let other = "relay-other-\(getpid()).service"
        for user in ["0", "65534"] {
            for unit in [nil, other, ProcessFDBus.unit] {
                let outcomes = [
                    try await bus.call(as: user, in: unit, path, OfUnit1.name, "UnitDo"),
                    try await bus.call(
                        as: user, in: unit, path, Stream1.name, "Attach", Stream1.attachSignature, "0", "0", "1", "*",
                        "0"),
                    try await bus.call(as: user, in: unit, path, Stream1.name, "Status"),
                ]
                for outcome in outcomes {
                    #expect((outcome.code == 0) == (unit == ProcessFDBus.unit), "\(user) \(unit ?? "none"): \(outcome)")
                    if unit != ProcessFDBus.unit {
                        #expect(outcome.errors.joined().contains("systemd unit '\(ProcessFDBus.unit)'"), "\(outcome)")
                    }
                }
            }
        }
        #expect(users.withLock { $0 } == [0, 65_534])
        try await service.stop()
    }
}
