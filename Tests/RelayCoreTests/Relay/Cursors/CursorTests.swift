import Glibc
import RelayTestKit
import Synchronization
import TestTraits
import Testing

@testable import RelayCore

@Suite("Cursors", .heavy, .tags(.g6)) struct CursorTests: CursorSuite {
    @Test("the runs that led to a place are written with it, and not those of another history") func runs() throws {
        let folder = try TestFolder()
        let (one, two, other) = (
            StreamRun(epoch: 1, first: 1), StreamRun(epoch: 2, first: 8), StreamRun(epoch: 3, first: 5)
        )
        func start() throws -> CursorPlace? {
            let cursor = try store(folder.path).open("box", "org.example.A1", names: nil)
            defer { cursor.end() }
            return cursor.start
        }
        let cursor = try store(folder.path).open("box", "org.example.A1", names: nil)
        cursor.learn([one, two])
        cursor.advance(ReplayBuffer.Place(epoch: 2, sequence: 9))
        cursor.flush()
        // The journal was restored; what was read before is still being handled.
        cursor.learn([one, other])
        cursor.advance(ReplayBuffer.Place(epoch: 2, sequence: 10))
        cursor.end()
        #expect(try start()?.runs == [one, two])
        let next = try store(folder.path).open("box", "org.example.A1", names: nil)
        next.learn([one, other])
        next.advance(ReplayBuffer.Place(epoch: 1, sequence: 4))
        next.flush()
        next.advance(ReplayBuffer.Place(epoch: 9, sequence: 4))
        next.end()
        #expect(try start() == CursorPlace(names: nil, epoch: 9, sequence: 4), "of a run that nobody reported")
    }
    @Test("a place is written within a while, and at the end; the next one starts there") func place() async throws {
        let folder = try TestFolder()
        let base = "\(folder.path)/deep/er"
        let path = base + TestFolder.scope
        let first = try store(base).open("box", "org.example.A1", names: ["One"])
        #expect(first.start == nil)
        first.advance(ReplayBuffer.Place(epoch: 3, sequence: 9))
        let file = "\(path)/box.cursor"
        #expect(await eventually { access(file, F_OK) == 0 })
        first.advance(ReplayBuffer.Place(epoch: 3, sequence: 10))
        first.end()
        first.advance(ReplayBuffer.Place(epoch: 3, sequence: 11))
        let second = try store(base).open("box", "org.example.A1", names: ["One"])
        #expect(second.start == CursorPlace(names: ["One"], epoch: 3, sequence: 10))
        var status = stat()
        #expect(stat(path, &status) == 0 && status.st_mode & 0o777 == 0o700)
        #expect(stat(file, &status) == 0 && status.st_mode & 0o777 == 0o600)
    }
    @Test("a place that comes while another is written is written after it") func during() async throws {
        let folder = try TestFolder()
        let (writes, cursor) = (Counter(), CursorBox())
        let faults = CursorFaults { step, _ throws(RelayError) in
            guard step == .renamed else { return }
            if writes.increment() == 1 {
                cursor.value.withLock { $0 }?.advance(ReplayBuffer.Place(epoch: 7, sequence: 2))
            }
        }
        let opened = try store(folder.path, faults: faults).open("box", "org.example.A1", names: nil)
        cursor.value.withLock { $0 = opened }
        opened.advance(ReplayBuffer.Place(epoch: 7, sequence: 1))
        #expect(await eventually { writes.value == 2 })
        cursor.value.withLock { $0 = nil }
    }
    private final class Counter: Sendable {
        private let count = Atomic<Int>(0)
        func increment() -> Int { count.wrappingAdd(1, ordering: .relaxed).newValue }
        var value: Int { count.load(ordering: .relaxed) }
    }
    private final class CursorBox: Sendable { let value = Mutex<Cursor?>(nil) }

    @Test("one name serves several interfaces of a relay, and keeps what it does not use") func interfaces() throws {
        let folder = try TestFolder()
        let relay = store(folder.path)
        let a = try relay.open("box", "org.example.A1", names: nil)
        let b = try relay.open("box", "org.example.B1", names: nil)
        a.advance(ReplayBuffer.Place(epoch: 1, sequence: 1))
        b.advance(ReplayBuffer.Place(epoch: 2, sequence: 2))
        a.end()
        // The name is still taken.
        #expect(
            message { _ = try store(folder.path).open("box", "org.example.A1", names: nil) }.hasPrefix(
                "Conflict: cursor 'box' is in use by another process"))
        b.end()
        let again = store(folder.path)
        #expect(try again.open("box", "org.example.B1", names: nil).start?.sequence == 2)
        #expect(try again.open("box", "org.example.A1", names: nil).start?.sequence == 1)
    }
    @Test("a name can be used once at a time, and again when it was let go") func conflict() throws {
        let folder = try TestFolder()
        let relay = store(folder.path)
        let first = try relay.open("box", "org.example.A1", names: nil)
        #expect(
            message { _ = try store(folder.path).open("box", "org.example.A1", names: nil) }
                == "Conflict: cursor 'box' is in use by another process or relay, which holds \(folder.scoped)/box.lock; "
                + "end that one, or use another name")
        #expect(
            message { _ = try relay.open("box", "org.example.A1", names: nil) }
                == "Conflict: cursor 'box' is in use by another subscription to org.example.A1: use another name")
        _ = try store(folder.path).open("other", "org.example.A1", names: nil)
        first.end()
        _ = try store(folder.path).open("box", "org.example.A1", names: nil)
        _ = try relay.open("box", "org.example.A1", names: nil)
    }
    @Test("what it was made for stays so") func madeFor() throws {
        let folder = try TestFolder()
        let relay = store(folder.path)
        let first = try relay.open("box", "org.example.A1", names: ["Two", "One"])
        first.advance(ReplayBuffer.Place(epoch: 1, sequence: 1))
        first.end()
        #expect(
            message { _ = try relay.open("box", "org.example.A1", names: nil) }
                == "InvalidArgument: cursor 'box' is for One, Two of org.example.A1, not for all events: use another name"
        )
        // The refusal has let the name go.
        let again = try relay.open("box", "org.example.A1", names: ["One", "Two"])
        // Those of another service, and of another namespace, do not meet it.
        let others = [
            store(folder.path, service: "org.example.Other1"), store(folder.path, namespace: "mine"),
            store(folder.path, namespace: "mine", service: "org.example.Other1"),
        ]
        for (number, other) in others.enumerated() {
            let cursor = try other.open("box", "org.example.A1", names: nil)
            #expect(cursor.start == nil)
            cursor.advance(ReplayBuffer.Place(epoch: 2, sequence: UInt64(number)))
            cursor.end()
            #expect(try other.open("box", "org.example.A1", names: nil).start?.sequence == UInt64(number))
        }
        #expect(again.start?.sequence == 1)
        #expect(
            message { _ = try store(folder.path, namespace: "a/b").open("box", "org.example.A1", names: nil) }
                == "InvalidArgument: 'a/b' is no namespace of cursors: 1 to 64 of A-Z, a-z, 0-9, '_' and '-'")
    }
    @Test("a file that was moved to another service's folder is refused") func moved() throws {
        let folder = try TestFolder()
        let cursor = try store(folder.path).open("box", "org.example.A1", names: nil)
        cursor.advance(ReplayBuffer.Place(epoch: 1, sequence: 1))
        cursor.end()
        let other = folder.path + "/default/org.example.Other1"
        #expect(rename(folder.scoped, other) == 0)
        #expect(
            message {
                _ = try store(folder.path, service: "org.example.Other1").open("box", "org.example.A1", names: nil)
            }
                == "InvalidArgument: cursor 'box' is of the service org.example.Service1, not of org.example.Other1: "
                + "use another name")
    }
    @Test("a cursor of the origin is taken over once, and stays as it is") func takeOver() throws {
        let folder = try TestFolder()
        let (origin, mirror) = (
            store(folder.path), store(folder.path, service: "org.eventrelay.Mirror1.a.\(Self.service)")
        )
        #expect(message { try mirror.takeOver("ledger", of: Self.service) }.contains("there is no cursor 'ledger'"))
        let runs = [StreamRun(epoch: 7, first: 1), StreamRun(epoch: 9, first: 4)]
        let cursors = [
            try origin.open("ledger", "org.example.A1", names: nil),
            try origin.open("ledger", "org.example.B1", names: ["Booked"]),
        ]
        cursors[0].learn(runs)
        cursors[0].advance(ReplayBuffer.Place(epoch: 9, sequence: 5))
        cursors[1].advance(ReplayBuffer.Place(epoch: 3, sequence: 1))
        #expect(message { try mirror.takeOver("ledger", of: Self.service) }.contains("in use"))
        for cursor in cursors { cursor.end() }
        try mirror.takeOver("ledger", of: Self.service)
        #expect(message { try mirror.takeOver("ledger", of: Self.service) }.contains("has a place already"))
        for store in [origin, mirror] {
            let first = try store.open("ledger", "org.example.A1", names: nil)
            let second = try store.open("ledger", "org.example.B1", names: ["Booked"])
            #expect(first.start == CursorPlace(names: nil, epoch: 9, sequence: 5, runs: runs))
            #expect(second.start == CursorPlace(names: ["Booked"], epoch: 3, sequence: 1))
            for cursor in [first, second] { cursor.end() }
        }
    }
    @Test("a name is one for a file", arguments: ["", "a b", "../x", "a.b", "ä", String(repeating: "x", count: 65)])
    func names(_ name: String) throws {
        let folder = try TestFolder()
        #expect(
            message { _ = try store(folder.path).open(name, "org.example.A1", names: nil) }.hasSuffix(
                "is no name for a cursor: 1 to 64 of A-Z, a-z, 0-9, '_' and '-'"))
        #expect(folder.cursors == [])
    }
    @Test("garbage is refused with the file's name and what to do, and left alone") func file() throws {
        let folder = try TestFolder()
        let path = "\(folder.scoped)/box.cursor"
        try folder.writeCursor("hello\n", to: "box.cursor")
        let refusal =
            "InvalidArgument: cursor 'box': \(path) is not as this program writes it, and there is no "
            + "\(folder.scoped)/box.synced: remove it "
            + "to start with the oldest event"
        #expect(message { _ = try store(folder.path).open("box", "org.example.A1", names: nil) } == refusal)
        try folder.writeCursor(String(repeating: "x", count: CursorText.maximumSize + 10), to: "box.cursor")
        #expect(message { _ = try store(folder.path).open("box", "org.example.A1", names: nil) } == refusal)
        unlink(path)
        #expect(try store(folder.path).open("box", "org.example.A1", names: nil).start == nil)
        // Neither a link to elsewhere nor a pipe is followed, or waited for.
        symlink("/etc/hostname", path)
        #expect(
            message { _ = try store(folder.path).open("box", "org.example.A1", names: nil) }
                == "Unavailable: cursor 'box': \(path) cannot be opened: \(SystemError(ELOOP))")
        unlink(path)
        mkfifo(path, 0o600)
        #expect(message { _ = try store(folder.path).open("box", "org.example.A1", names: nil) } == refusal)
    }
    @Test("a folder that is made for it is synced into the one that has it") func made() throws {
        let folder = try TestFolder()
        var synced: [String] = []
        let base = folder.path + "/a"
        let cursors = try CursorFolder(base, "b", service: "c.d", environment: { _ in nil })
        let path = base + "/b/c.d"
        for _ in 0..<2 {
            try cursors.make {
                synced.append($0)
                return FolderSync.parent(of: $0)
            }
        }
        #expect(cursors.path == path && synced == [base, base + "/b", path])
        let other = try CursorFolder(base, "b", service: "e.f", environment: { _ in nil })
        #expect(
            message { try other.make { _ in EIO } }.contains("cannot be synced into the folder that has \(base)/b/e.f"))
    }
    @Test("a copy that is left alone is written and synced anew before the first file is") func alone() throws {
        let folder = try TestFolder()
        let first = try store(folder.path).open("box", "org.example.A1", names: nil)
        first.advance(ReplayBuffer.Place(epoch: 1, sequence: 1))
        first.end()
        unlink("\(folder.scoped)/box.cursor")
        let steps = Mutex<[String]>([])
        var faults = CursorFaults { step, _ throws(RelayError) in steps.withLock { $0.append("\(step)") } }
        faults.syncFolder = { folder in
            steps.withLock { $0.append("folder") }
            return fsync(folder)
        }
        let next = try store(folder.path, faults: faults).open("box", "org.example.A1", names: nil)
        #expect(next.start?.sequence == 1)
        next.advance(ReplayBuffer.Place(epoch: 1, sequence: 2))
        next.flush()
        #expect(steps.withLock { $0 }.prefix(4) == ["beforeWrite", "synced", "folder", "beforeWrite"])
        next.end()
    }
    @Test("a folder that others own or can write to is refused") func folder() throws {
        #expect(CursorFolder.refusal(owner: 7, mode: 0o40700, user: 7) == nil)
        #expect(CursorFolder.refusal(owner: 7, mode: 0o40755, user: 7) == nil)
        #expect(
            CursorFolder.refusal(owner: 0, mode: 0o40755, user: 7)
                == "belongs to user 0, not to user 7: use a folder of your own")
        let folder = try TestFolder()
        chmod(folder.path, 0o770)
        #expect(
            message { _ = try store(folder.path).open("box", "org.example.A1", names: nil) }
                == "NotPermitted: the folder for cursors, \(folder.path), can be written to by others (mode 770): "
                + "chmod go-w it, or use another one")
        #expect(folder.cursors == [])
        chmod(folder.path, 0o700)
        // A folder within it has to meet the same conditions.
        chmod(folder.path + "/default", 0o777)
        #expect(
            message { _ = try store(folder.path).open("box", "org.example.A1", names: nil) }.contains(
                "\(folder.path)/default, can be written to by others"))
        try folder.write("", to: "file")
        #expect(
            message { _ = try store("\(folder.path)/file").open("box", "org.example.A1", names: nil) }
                == "Unavailable: the folder for cursors, \(folder.path)/file/default, cannot be made: "
                + "\(SystemError(ENOTDIR))"
        )
        #expect(
            message { _ = try store("\(folder.path)/file/sub").open("box", "org.example.A1", names: nil) }
                == "Unavailable: the folder for cursors, \(folder.path)/file/sub, cannot be made: "
                + "\(SystemError(ENOTDIR))"
        )
    }
    @Test("where cursors are kept, if it is not said") func standard() throws {
        func path(_ environment: [String: String]) throws -> String {
            try CursorFolder(nil, nil, service: "a.b", environment: { environment[$0] }).path
        }
        #expect(try path(["XDG_STATE_HOME": "/s", "HOME": "/h"]) == "/s/relay/cursors/default/a.b")
        #expect(try path(["XDG_STATE_HOME": "s", "HOME": "/h"]) == "/h/.local/state/relay/cursors/default/a.b")
        #expect(
            message { _ = try path(["HOME": ""]) }
                == "Unavailable: no folder for cursors: neither XDG_STATE_HOME nor HOME is set; give the relay one with 'cursors'"
        )
    }
}
