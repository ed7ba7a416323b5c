import Dispatch
import Glibc
import RelayTestKit
import Synchronization
import TestTraits
import Testing

@testable import RelayCore

@Suite("Cursors on a disk that fails, or has lost something", .heavy, .tags(.g6)) struct CursorFailureTests: CursorSuite
{
    @Test("a failure is reported once, tried again, and reported anew after a success") func failure() async throws {
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
        #expect(await eventually { folder.cursors.contains("box.cursor") }, "it is tried again without another event")
        isFull.store(true, ordering: .relaxed)
        cursor.advance(ReplayBuffer.Place(epoch: 1, sequence: 3))
        cursor.flush()
        #expect(failures.count == 2)
        cursor.end()
        #expect(try store(folder.path).open("box", "org.example.A1", names: nil).start?.sequence == 2)
    }
    @Test("a folder that cannot be synced is a failure, and the copy is made again") func unsynced() async throws {
        let folder = try TestFolder()
        let failures = Log<String>()
        let number = Atomic<Int32>(EIO)
        let calls = Atomic<Int>(0)
        var faults = CursorFaults.none
        faults.syncFolder = { _ in
            calls.add(1, ordering: .relaxed)
            errno = number.load(ordering: .relaxed)
            return errno == 0 ? 0 : -1
        }
        let cursor = try store(folder.path, faults: faults) { name, error in failures.add("\(name) \(error)") }
            .open("box", "org.example.A1", names: nil)
        cursor.advance(ReplayBuffer.Place(epoch: 1, sequence: 1))
        cursor.flush()
        let text = "box Unavailable: cursor 'box': the folder \(folder.scoped) cannot be synced: \(SystemError(EIO))"
        #expect(failures.count == 1 && failures.values[0].hasPrefix(text), "\(failures.values)")
        #expect(!folder.cursors.contains("box.cursor"), "no file without a copy that is sure")
        number.store(0, ordering: .relaxed)
        #expect(await eventually { folder.cursors.contains("box.cursor") })
        cursor.end()
        #expect(calls.load(ordering: .relaxed) >= 2)
        // A file system that knows no such sync.
        number.store(EINVAL, ordering: .relaxed)
        let other = try store(folder.path, faults: faults) { name, error in failures.add("\(name) \(error)") }
            .open("other", "org.example.A1", names: nil)
        other.advance(ReplayBuffer.Place(epoch: 1, sequence: 1))
        other.end()
        #expect(folder.cursors.contains("other.cursor") && failures.count == 1)
    }
    @Test("a folder that went away is a failure with the file's name") func gone() throws {
        let failures = Log<String>()
        let folder = try TestFolder()
        let path = folder.scoped
        let cursor = try store(folder.path) { _, error in failures.add("\(error)") }.open(
            "box", "org.example.A1", names: nil)
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
        #expect(folder.cursors == ["box.cursor", "box.lock", "box.synced"])
        try folder.writeCursor(content, to: "box.cursor")
        let failures = Log<String>()
        let cursor = try store(folder.path) { name, error in failures.add("\(name) \(error)") }
            .open("box", "org.example.A1", names: nil)
        #expect(cursor.start?.sequence == 1)
        #expect(await eventually { failures.count == 1 })
        #expect(
            failures.values == [
                "box Unavailable: cursor 'box': \(folder.scoped)/box.cursor is not as it was written, as after a power loss; "
                    + "\(folder.scoped)/box.synced is used, so that its last events come again"
            ])
        cursor.advance(ReplayBuffer.Place(epoch: 1, sequence: 3))
        cursor.end()
        #expect(try store(folder.path).open("box", "org.example.A1", names: nil).start?.sequence == 3)
    }
    @Test("G2: a digit that is not the one that was written skips nothing: the copy counts, and that is reported")
    func digit() async throws {
        let folder = try TestFolder()
        try twoPlaces(folder)
        let whole = try #require(Self.content("\(folder.scoped)/box.cursor"))
        let other = whole.replacing("org.example.A1 * 1 2", with: "org.example.A1 * 1 7")
        try #require(other != whole)
        try folder.writeCursor(other, to: "box.cursor")
        let failures = Log<String>()
        let cursor = try store(folder.path) { name, error in failures.add("\(name) \(error.code == .unavailable)") }
            .open("box", "org.example.A1", names: nil)
        #expect(cursor.start?.sequence == 1)
        #expect(await eventually { failures.values == ["box true"] })
    }
    @Test("what a killed process has left half written is removed, and what is not of this cursor stays")
    func leftovers()
        throws
    {
        let folder = try TestFolder()
        try twoPlaces(folder)
        for name in ["box.cursor.1f.new", "box.synced.0.new", "boxes.cursor.1f.new", "box.cursor.txt"] {
            try folder.writeCursor("x", to: name)
        }
        let cursor = try store(folder.path).open("box", "org.example.A1", names: nil)
        #expect(cursor.start?.sequence == 2)
        cursor.end()
        #expect(folder.cursors == ["box.cursor", "box.cursor.txt", "box.lock", "box.synced", "boxes.cursor.1f.new"])
    }
    @Test("a file that is gone is replaced by its synced copy") func missingFile() throws {
        let folder = try TestFolder()
        try twoPlaces(folder)
        unlink("\(folder.scoped)/box.cursor")
        #expect(try store(folder.path).open("box", "org.example.A1", names: nil).start?.sequence == 1)
    }
    @Test("a copy that is damaged or gone is made anew before the next place is written", arguments: damages + ["gone"])
    func damagedCopy(_ content: String) throws {
        let folder = try TestFolder()
        try twoPlaces(folder)
        if content == "gone" {
            unlink("\(folder.scoped)/box.synced")
        } else {
            try folder.writeCursor(content, to: "box.synced")
        }
        let cursor = try store(folder.path).open("box", "org.example.A1", names: nil)
        #expect(cursor.start?.sequence == 2)
        cursor.advance(ReplayBuffer.Place(epoch: 1, sequence: 3))
        cursor.end()
        try folder.writeCursor("", to: "box.cursor")
        #expect(try store(folder.path).open("box", "org.example.A1", names: nil).start?.sequence == 3)
    }
    @Test("if both are damaged, only a subscriber that has chosen so starts with the oldest event", arguments: damages)
    func damagedBoth(_ content: String) async throws {
        let folder = try TestFolder()
        try twoPlaces(folder)
        try folder.writeCursor(content, to: "box.cursor")
        try folder.writeCursor(content, to: "box.synced")
        let refusal =
            "cursor 'box': neither \(folder.scoped)/box.cursor nor \(folder.scoped)/box.synced is as it was written: remove "
            + "both to start with the oldest event"
        #expect(
            message { _ = try store(folder.path).open("box", "org.example.A1", names: nil) }
                == "InvalidArgument: " + refusal)
        unlink("\(folder.scoped)/box.cursor")
        #expect(
            message { _ = try store(folder.path).open("box", "org.example.A1", names: nil) }
                == "InvalidArgument: cursor 'box': \(folder.scoped)/box.synced is not as this program writes it, and there is no "
                + "\(folder.scoped)/box.cursor: remove it to start with the oldest event")
        try folder.writeCursor(content, to: "box.cursor")
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
        let timing = RelayTiming { $0.cursors.sync = .milliseconds(1) }
        let cursor = try store(folder.path, timing: timing.cursors).open("box", "org.example.A1", names: nil)
        for sequence: UInt64 in 1...3 {
            cursor.advance(ReplayBuffer.Place(epoch: 1, sequence: sequence))
            cursor.flush()
        }
        var expected = CursorText(service: Self.service)
        expected.places["org.example.A1"] = CursorPlace(names: nil, epoch: 1, sequence: 3)
        let text = expected.text
        #expect(await eventually { Self.content("\(folder.scoped)/box.synced") == text })
        cursor.end()
    }
}
