import Dispatch
import Glibc
import RelayTestKit
import Synchronization
import TestTraits
import Testing

@testable import RelayCore

@Suite(.heavy, .tags(.g6)) struct CursorTests {
    private static let service = "org.example.Service1"

    private func store(
        _ folder: String, service: String = Self.service, faults: CursorFaults = .none,
        syncDelay: DispatchTimeInterval = .seconds(5),
        onFailure: @escaping @Sendable (String, RelayError) -> Void = { _, _ in }
    ) -> CursorStore {
        CursorStore(folder, service: service, faults: faults, syncDelay: syncDelay, onFailure: onFailure)
    }
    private func message(_ body: () throws -> Void) -> String {
        do {
            try body()
            return "no error"
        } catch { return "\(error)" }
    }

    // MARK: Text

    @Test("a cursor's text is read as it was written") func text() throws {
        var text = CursorText(service: Self.service)
        #expect(CursorText(parsing: text.text) == text)
        text.places["org.example.A1"] = CursorPlace(names: nil, epoch: .max, sequence: 0)
        text.places["org.example.B1"] = CursorPlace(
            names: ["Two", "One"], epoch: 7, sequence: .max,
            runs: [StreamRun(epoch: .max, first: 1), StreamRun(epoch: 7, first: 8)])
        let lines = """
            relay-cursor 2
            service org.example.Service1
            org.example.A1 * 18446744073709551615 0 -
            org.example.B1 One,Two 7 18446744073709551615 18446744073709551615:1,7:8

            """
        #expect(text.text == lines)
        #expect(CursorText(parsing: lines) == text)
        // The first version's.
        let former = """
            relay-cursor 1
            service org.example.Service1
            org.example.A1 * 18446744073709551615 0
            org.example.B1 One,Two 7 18446744073709551615

            """
        text.places["org.example.B1"]?.runs = []
        #expect(CursorText(parsing: former) == text)
    }
    @Test(
        "what is no cursor is refused, and nothing traps",
        arguments: [
            "", "\n", "relay-cursor 1\n", "relay-cursor 1\nservice org.example.S",
            "relay-cursor 3\nservice org.example.S\n",
            "relay-cursor 2\nservice org.example.S\norg.example.A1 * 1 1\n",
            "relay-cursor 2\nservice org.example.S\norg.example.A1 * 1 1 1\n",
            "relay-cursor 2\nservice org.example.S\norg.example.A1 * 1 1 1:1,\n",
            "relay-cursor 2\nservice org.example.S\norg.example.A1 * 1 1 1:1:1\n",
            "relay-cursor 2\nservice org.example.S\norg.example.A1 * 1 1 1:-1\n",
            "relay-cursor 2\nservice org.example.S\norg.example.A1 * 1 1 "
                + Array(repeating: "1:1", count: 17).joined(separator: ",") + "\n",
            "relay-cursor 1\nservice nobody\n", "relay-cursor 1\nservice org.example.S\norg.example.A1 * 1\n",
            "relay-cursor 1\nservice org.example.S\norg.example.A1 * 1 18446744073709551616\n",
            "relay-cursor 1\nservice org.example.S\norg.example.A1 * -1 1\n",
            "relay-cursor 1\nservice org.example.S\norg.example.A1 One,,Two 1 1\n",
            "relay-cursor 1\nservice org.example.S\nA * 1 1\n",
            "relay-cursor 1\nservice org.example.S\norg.example.A1 * 1 1\norg.example.A1 * 1 2\n",
            "relay-cursor 1\nservice org.example.S\n\n", "\0\u{FFFD}\u{1F4A9}",
        ]) func garbage(_ text: String)
    { #expect(CursorText(parsing: text) == nil) }
    @Test("a file that was cut anywhere is refused, or ends at a line") func cut() {
        var text = CursorText(service: Self.service)
        text.places["org.example.A1"] = CursorPlace(names: nil, epoch: 12, sequence: 345)
        for count in 0..<text.text.count {
            let parsed = CursorText(parsing: String(text.text.prefix(count)))
            #expect(parsed == nil || parsed == CursorText(service: Self.service))
        }
    }

    // MARK: Files

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
        let path = "\(folder.path)/deep/er"
        let first = try store(path).open("box", "org.example.A1", names: ["One"])
        #expect(first.start == nil)
        first.advance(ReplayBuffer.Place(epoch: 3, sequence: 9))
        let file = "\(path)/box.cursor"
        #expect(await eventually { access(file, F_OK) == 0 })
        first.advance(ReplayBuffer.Place(epoch: 3, sequence: 10))
        first.end()
        first.advance(ReplayBuffer.Place(epoch: 3, sequence: 11))
        let second = try store(path).open("box", "org.example.A1", names: ["One"])
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
                == "Conflict: cursor 'box' is in use by another process or relay, which holds \(folder.path)/box.lock; "
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
        #expect(
            message {
                _ = try store(folder.path, service: "org.example.Other1").open("box", "org.example.A1", names: nil)
            }
                == "InvalidArgument: cursor 'box' is of the service org.example.Service1, not of org.example.Other1: "
                + "use another name")
        // The refusals have let the name go.
        _ = try relay.open("box", "org.example.A1", names: ["One", "Two"])
    }
    @Test("a name is one for a file", arguments: ["", "a b", "../x", "a.b", "ä", String(repeating: "x", count: 65)])
    func names(_ name: String) throws {
        let folder = try TestFolder()
        #expect(
            message { _ = try store(folder.path).open(name, "org.example.A1", names: nil) }.hasSuffix(
                "is no name for a cursor: 1 to 64 of A-Z, a-z, 0-9, '_' and '-'"))
        #expect(folder.names == [])
    }
    @Test("garbage is refused with the file's name and what to do, and left alone") func file() throws {
        let folder = try TestFolder()
        let path = "\(folder.path)/box.cursor"
        try folder.write("hello\n", to: "box.cursor")
        let refusal =
            "InvalidArgument: \(path) is no cursor file, and there is no \(folder.path)/box.synced: remove it "
            + "to start with the oldest event"
        #expect(message { _ = try store(folder.path).open("box", "org.example.A1", names: nil) } == refusal)
        try folder.write(String(repeating: "x", count: CursorText.maximumSize + 10), to: "box.cursor")
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
        #expect(folder.names == [])
        chmod(folder.path, 0o700)
        try folder.write("", to: "file")
        #expect(
            message { _ = try store("\(folder.path)/file").open("box", "org.example.A1", names: nil) }
                == "Unavailable: the folder for cursors, \(folder.path)/file, cannot be opened: \(SystemError(ENOTDIR))"
        )
        #expect(
            message { _ = try store("\(folder.path)/file/sub").open("box", "org.example.A1", names: nil) }
                == "Unavailable: the folder for cursors, \(folder.path)/file/sub, cannot be made: \(SystemError(ENOTDIR))"
        )
    }
    @Test("where cursors are kept, if it is not said") func standard() throws {
        func path(_ environment: [String: String]) throws -> String {
            try CursorFolder(nil, environment: { environment[$0] }).path
        }
        #expect(try path(["XDG_STATE_HOME": "/s", "HOME": "/h"]) == "/s/relay/cursors")
        #expect(try path(["XDG_STATE_HOME": "s", "HOME": "/h"]) == "/h/.local/state/relay/cursors")
        #expect(
            message { _ = try path(["HOME": ""]) }
                == "Unavailable: no folder for cursors: neither XDG_STATE_HOME nor HOME is set; give the relay one with 'cursors'"
        )
    }
    @Test("a failure is told once, tried again, and told anew after a success") func failure() async throws {
        let folder = try TestFolder()
        let failures = Log<String>()
        let isFull = Atomic<Bool>(true)
        let faults = CursorFaults { step, _ throws(RelayError) in
            if step == .beforeWrite, isFull.load(ordering: .relaxed) { throw RelayError(.storageFull, "no room") }
        }
        let cursor = try store(folder.path, faults: faults) { name, error in failures.add("\(name) \(error)") }
            .open("box", "org.example.A1", names: nil)
        cursor.advance(ReplayBuffer.Place(epoch: 1, sequence: 1))
        #expect(await eventually { failures.count == 1 })
        cursor.advance(ReplayBuffer.Place(epoch: 1, sequence: 2))
        cursor.flush()
        #expect(failures.values == ["box StorageFull: no room"])
        isFull.store(false, ordering: .relaxed)
        #expect(await eventually { folder.names.contains("box.cursor") }, "it is tried again without another event")
        isFull.store(true, ordering: .relaxed)
        cursor.advance(ReplayBuffer.Place(epoch: 1, sequence: 3))
        cursor.flush()
        #expect(failures.count == 2)
        cursor.end()
        #expect(try store(folder.path).open("box", "org.example.A1", names: nil).start?.sequence == 2)
    }
    @Test("a folder that went away is a failure with the file's name") func gone() throws {
        let failures = Log<String>()
        let folder = try TestFolder()
        let path = "\(folder.path)/sub"
        let cursor = try store(path) { _, error in failures.add("\(error)") }.open("box", "org.example.A1", names: nil)
        unlink("\(path)/box.lock")
        rmdir(path)
        cursor.advance(ReplayBuffer.Place(epoch: 1, sequence: 1))
        cursor.flush()
        #expect(
            failures.values
                == ["Unavailable: cursor 'box': \(path)/box.synced.new cannot be made: \(SystemError(ENOENT))"])
    }
    @Test("a write that stops at any step leaves the old place or the new one", arguments: CursorStep.allCases)
    func steps(_ last: CursorStep) throws {
        let folder = try TestFolder()
        let first = try store(folder.path).open("box", "org.example.A1", names: nil)
        first.advance(ReplayBuffer.Place(epoch: 1, sequence: 1))
        first.end()
        let faults = CursorFaults { step, _ throws(RelayError) in
            if step == last { throw RelayError(.unavailable, "stopped") }
        }
        let second = try store(folder.path, faults: faults).open("box", "org.example.A1", names: nil)
        second.advance(ReplayBuffer.Place(epoch: 1, sequence: 2))
        second.end()
        let third = try store(folder.path).open("box", "org.example.A1", names: nil)
        #expect(third.start?.sequence == (last == .renamed || last == .synced ? 2 : 1))
        // What was left half done is no obstacle.
        third.advance(ReplayBuffer.Place(epoch: 1, sequence: 3))
        third.end()
        #expect(try store(folder.path).open("box", "org.example.A1", names: nil).start?.sequence == 3)
    }

    // MARK: Damage

    /// A cursor that stands at 1 in its synced copy, and at 2 in its file.
    private func twoPlaces(_ folder: TestFolder) throws {
        let cursor = try store(folder.path).open("box", "org.example.A1", names: nil)
        for sequence: UInt64 in 1...2 {
            cursor.advance(ReplayBuffer.Place(epoch: 1, sequence: sequence))
            cursor.flush()
        }
        cursor.end()
    }
    private static func content(_ path: String) -> String? {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        if file < 0 { return nil }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: 4_096)
        let count = read(file, &bytes, bytes.count)
        return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
    }
    private static let damages = ["", "\0\0\0\0", "relay-cursor 1\nservice org.example.Service1\norg.example.A1 * 1 2"]

    @Test(
        "G2: a file that a power loss has damaged is replaced by its synced copy, and that is reported",
        arguments: damages)
    func damagedFile(_ content: String) async throws {
        let folder = try TestFolder()
        try twoPlaces(folder)
        #expect(folder.names == ["box.cursor", "box.lock", "box.synced"])
        try folder.write(content, to: "box.cursor")
        let failures = Log<String>()
        let cursor = try store(folder.path) { name, error in failures.add("\(name) \(error)") }
            .open("box", "org.example.A1", names: nil)
        #expect(cursor.start?.sequence == 1)
        #expect(await eventually { failures.count == 1 })
        #expect(
            failures.values == [
                "box Unavailable: cursor 'box': \(folder.path)/box.cursor is no cursor file, as after a power loss; "
                    + "\(folder.path)/box.synced is used, so that its last events come again"
            ])
        cursor.advance(ReplayBuffer.Place(epoch: 1, sequence: 3))
        cursor.end()
        #expect(try store(folder.path).open("box", "org.example.A1", names: nil).start?.sequence == 3)
    }
    @Test("a file that is gone is replaced by its synced copy") func missingFile() throws {
        let folder = try TestFolder()
        try twoPlaces(folder)
        unlink("\(folder.path)/box.cursor")
        #expect(try store(folder.path).open("box", "org.example.A1", names: nil).start?.sequence == 1)
    }
    @Test("a copy that is damaged or gone is made anew before the next place is written", arguments: damages + ["gone"])
    func damagedCopy(_ content: String) throws {
        let folder = try TestFolder()
        try twoPlaces(folder)
        if content == "gone" {
            unlink("\(folder.path)/box.synced")
        } else {
            try folder.write(content, to: "box.synced")
        }
        let cursor = try store(folder.path).open("box", "org.example.A1", names: nil)
        #expect(cursor.start?.sequence == 2)
        cursor.advance(ReplayBuffer.Place(epoch: 1, sequence: 3))
        cursor.end()
        try folder.write("", to: "box.cursor")
        #expect(try store(folder.path).open("box", "org.example.A1", names: nil).start?.sequence == 3)
    }
    @Test("if both are damaged, only a subscriber that has chosen so starts with the oldest event", arguments: damages)
    func damagedBoth(_ content: String) async throws {
        let folder = try TestFolder()
        try twoPlaces(folder)
        try folder.write(content, to: "box.cursor")
        try folder.write(content, to: "box.synced")
        let refusal =
            "neither \(folder.path)/box.cursor nor \(folder.path)/box.synced is a cursor file: remove both to start with "
            + "the oldest event"
        #expect(
            message { _ = try store(folder.path).open("box", "org.example.A1", names: nil) }
                == "InvalidArgument: " + refusal)
        unlink("\(folder.path)/box.cursor")
        #expect(
            message { _ = try store(folder.path).open("box", "org.example.A1", names: nil) }
                == "InvalidArgument: \(folder.path)/box.synced is no cursor file, and there is no "
                + "\(folder.path)/box.cursor: remove it to start with the oldest event")
        try folder.write(content, to: "box.cursor")
        let failures = Log<String>()
        let cursor = try store(folder.path) { _, error in failures.add(error.message) }
            .open("box", "org.example.A1", names: nil, restarts: true)
        #expect(cursor.start == nil)
        #expect(await eventually { failures.values == [refusal] })
        cursor.advance(ReplayBuffer.Place(epoch: 1, sequence: 1))
        cursor.end()
        #expect(try store(folder.path).open("box", "org.example.A1", names: nil).start?.sequence == 1)
    }
    @Test("the synced copy follows the file after a while, also when nothing more comes") func cadence() async throws {
        let folder = try TestFolder()
        let cursor = try store(folder.path, syncDelay: .milliseconds(1)).open("box", "org.example.A1", names: nil)
        for sequence: UInt64 in 1...3 {
            cursor.advance(ReplayBuffer.Place(epoch: 1, sequence: sequence))
            cursor.flush()
        }
        var expected = CursorText(service: Self.service)
        expected.places["org.example.A1"] = CursorPlace(names: nil, epoch: 1, sequence: 3)
        let text = expected.text
        #expect(await eventually { Self.content("\(folder.path)/box.synced") == text })
        cursor.end()
    }
}
