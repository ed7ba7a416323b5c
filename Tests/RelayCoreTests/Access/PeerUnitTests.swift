import Glibc
import Synchronization
import TestTraits
import Testing

@testable import RelayCore

@Suite("Systemd units of peers", .tags(.g7)) struct PeerUnitTests {
    @Test("a unit is the first part behind the slices, as systemd has it") func paths() {
        let units: [(String, String?)] = [
            ("/system.slice/backup.service", "backup.service"),
            ("/system.slice/system-getty.slice/getty@tty1.service", "getty@tty1.service"),
            ("/system.slice/backup.service/own/other.service", "backup.service"), ("/init.scope", "init.scope"),
            ("/user.slice/user-1000.slice/user@1000.service/app.slice/backup.service", "user@1000.service"),
            ("/user.slice/user-1000.slice/session-3.scope", "session-3.scope"),
            ("/system.slice/_cpu.service", "cpu.service"), ("/", nil), ("", nil), ("/system.slice", nil),
            ("/docker/backup.service", nil), ("/../backup.service", nil), ("/system.slice/.service", nil),
            ("/system.slice/backup.service (deleted)", nil),
        ]
        for (path, unit) in units { #expect(UnitName.unit(inPath: path) == unit, "\(path)") }
    }
    @Test("the unified hierarchy counts; only without it, systemd's own") func hierarchies() {
        let named = "1:name=systemd:/system.slice/old.service\n"
        #expect(UnitName.unit(inGroups: "9:cpu:/a.service\n" + named) == "old.service")
        #expect(UnitName.unit(inGroups: named + "0::/system.slice/new.service\n") == "new.service")
        #expect(UnitName.unit(inGroups: named + "0::/\n") == nil)
        #expect(UnitName.unit(inGroups: "0::/system.slice/a:b.service\n") == "a:b.service")
        for text in ["", "\n", "0:", "x", "5:cpu:/a.service", "0:cpu:/a.service"] {
            #expect(UnitName.unit(inGroups: text) == nil, "'\(text)'")
        }
    }

    /// A process whose number passes on, or which cannot be read.
    private final class Files: ProcessFiles {
        let numbers: Mutex<[Int32?]>
        let isOver: Bool
        let text: String?
        init(_ numbers: [Int32?], isOver: Bool = false, _ text: String?) {
            self.numbers = Mutex(numbers)
            (self.isOver, self.text) = (isOver, text)
        }
        func processID(of descriptor: Int32) -> Int32? { numbers.withLock { $0.isEmpty ? nil : $0.removeFirst() } }
        func hasEnded(_ descriptor: Int32) -> Bool { isOver }
        func controlGroups(of processID: Int32) -> String? { text }
    }
    @Test("G7: what was read of a number that may have passed on is nobody's unit") func race() {
        let text = "0::/system.slice/backup.service\n"
        func unit(_ files: Files) -> PeerUnit { PeerUnit(ofProcess: 3, files: files) }
        #expect(unit(Files([7, 7], text)) == .one("backup.service"))
        #expect(unit(Files([7, 7], "0::/\n")) == .none)
        for files in [
            Files([nil], text), Files([-1], text), Files([0], text), Files([7, -1], text), Files([7, nil], text),
            Files([7, 8], text), Files([7, 7], isOver: true, text), Files([7, 7], nil),
        ] {
            guard case .unknown = unit(files) else {
                Issue.record("\(unit(files))")
                continue
            }
        }
    }
    @Test("a file that is no process's is none") func noProcess() {
        let null = open("/dev/null", O_RDONLY | O_CLOEXEC)
        defer { close(null) }
        guard case .unknown = PeerUnit(ofProcess: null) else {
            Issue.record("/dev/null")
            return
        }
        #expect(SystemProcessFiles().controlGroups(of: getpid()) != nil)
    }
    @Test("G7: a unit that is not known is neither met nor refused") func decisions() {
        struct Accounts: AccountDirectory {
            var ownUserID: UInt32 { 0 }
            func user(named name: String) -> Account { .missing }
            func group(named name: String) -> Account { .missing }
        }
        func decide(_ unit: PeerUnit) -> PeerRequirement.Decision {
            PeerRequirement.systemdUnit("backup.service").decision(
                on: PeerCredentials(userID: 0, unit: unit), accounts: Accounts())
        }
        #expect(decide(.one("backup.service")) == .met)
        #expect(decide(.one("other.service")) == .notMet && decide(.none) == .notMet)
        guard case .unknown = decide(.unknown("x")) else {
            Issue.record("known")
            return
        }
        let silent = PeerCredentials(userID: 0)
        #expect(PeerRequirement.systemdUnit("backup.service").verdict(on: silent, accounts: Accounts()) == nil)
    }
}
