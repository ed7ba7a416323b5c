import Glibc
import RelayCore
import RelayTestKit
import TestTraits
import Testing

@testable import RelayJournal

/// A small file system of its own, for as long as it lives.
final class SmallDisk: Sendable {
    let directory: TestFolder
    init(megabytes: Int) async throws {
        directory = try TestFolder()
        try await Self.run(
            "/bin/mount", ["-t", "tmpfs", "-o", "mode=0700,size=\(megabytes)m", "relay-test", directory.path])
    }
    // After a test that failed: a directory that is mounted on cannot be removed.
    deinit { _ = system("umount -l '\(directory.path)' 2>/dev/null") }
    func end() async throws { try await Self.run("/bin/umount", [directory.path]) }
    func remount(_ options: String) async throws {
        try await Self.run("/bin/mount", ["-o", "remount,\(options)", directory.path])
    }
    private static func run(_ program: String, _ arguments: [String]) async throws {
        let outcome = try await RunningProgram.run(program, arguments)
        if outcome.code != 0 { throw RelayError(.unavailable, "\(program): \(outcome)") }
    }
    /// Asked once: whether this user may mount, in this container.
    static let isPossible: Bool =
        system("d=$(mktemp -d) && { mount -t tmpfs none $d 2>/dev/null && umount $d; s=$?; rmdir $d; exit $s; }") == 0
}

/// A file system of its own on a disk that can be told to fail: the kernel makes it read-only then.
final class FailingDisk: Sendable {
    let directory: TestFolder
    private let image: TestFolder
    private let device: String

    init() async throws {
        (directory, image) = (try TestFolder(), try TestFolder())
        let file = image.path + "/disk"
        let outcome = try await RunningProgram.run(
            "/bin/sh",
            [
                "-c",
                "PATH=$PATH:/usr/sbin:/sbin; truncate -s 16M \(file) && mkfs.ext4 -q -F \(file) && "
                    + "mount -o loop,errors=remount-ro \(file) \(directory.path) && chmod 700 \(directory.path) && "
                    + "findmnt -no SOURCE \(directory.path)",
            ])
        guard outcome.code == 0, let source = outcome.output.last else {
            throw RelayError(.unavailable, "no disk: \(outcome)")
        }
        device = source.replacing("/dev/", with: "")
    }
    deinit { _ = system("umount -l '\(directory.path)' 2>/dev/null") }
    func fail() throws {
        let descriptor = open("/sys/fs/ext4/\(device)/trigger_fs_error", O_WRONLY)
        defer { close(descriptor) }
        if write(descriptor, "1", 1) != 1 { throw RelayError(.unavailable, "the disk does not fail: \(errno)") }
    }
    static let isPossible: Bool =
        system(
            """
            PATH=$PATH:/usr/sbin:/sbin; d=$(mktemp -d) && mkdir $d/m && truncate -s 1M $d/i && mkfs.ext4 -q -F $d/i 2>/dev/null &&
            mount -o loop $d/i $d/m 2>/dev/null && test -w /sys/fs/ext4/$(basename $(findmnt -no SOURCE $d/m))/trigger_fs_error
            s=$?; umount $d/m 2>/dev/null; rm -rf $d; exit $s
            """) == 0
}

@Suite(
    "A real file system", .serialized,
    .enabled(
        if: SmallDisk.isPossible, "mounting is not allowed here: the same is tested with FaultDisk in FailureTests"),
    .heavy, .tags(.g5))
struct MountTests {
    @Test("full: refused with the file's name, and goes on when there is room") func full() async throws {
        let disk = try await SmallDisk(megabytes: 4)
        let ledger = try Ledger(disk.directory)
        // Everything else that is on it.
        let filler = disk.directory.path + "/filler"
        let descriptor = open(filler, O_WRONLY | O_CREAT, 0o600)
        #expect(posix_fallocate(descriptor, 0, 1 << 20) == 0)
        close(descriptor)
        var error: RelayError?
        var booked: UInt64 = 0
        let text = String(repeating: "y", count: 20_000)
        while error == nil {
            do {
                try await ledger.storage.commit([LedgerEncoder.booked(7, text)])
                booked += 1
            } catch let caught as RelayError { error = caught }
        }
        #expect(error?.code == .storageFull && error?.message.contains(ledger.directory.database) == true)
        #expect(ledger.stream.emitted.count == Int(booked) && booked > 10)
        #expect(try await ledger.all().count == Int(booked))
        // What the reserve gave may do for a few more.
        var refused = 0
        while refused < 5 {
            do {
                try await ledger.storage.commit([LedgerEncoder.booked(7, text)])
                (booked, refused) = (booked + 1, 0)
            } catch .storageFull { refused += 1 }
        }
        #expect(ledger.stream.emitted.count == Int(booked))
        unlink(filler)
        #expect(
            await eventually {
                do {
                    try await ledger.book(9)
                    return true
                } catch { return false }
            })
        #expect(ledger.stream.sequences == Array(1...booked + 1))
        ledger.journal.close()
        let again = try Ledger(disk.directory, epoch: 2)
        #expect(again.run.head == booked + 1)
        again.journal.close()
        try await disk.end()
    }
    @Test("full at the start: serves what there is") func fullAtStart() async throws {
        let disk = try await SmallDisk(megabytes: 4)
        do {
            let ledger = try Ledger(disk.directory)
            try await ledger.book(1, 2, 3)
            ledger.journal.close()
        }
        let descriptor = open(disk.directory.path + "/filler", O_WRONLY | O_CREAT, 0o600)
        let block = [UInt8](repeating: 1, count: 4_096)
        while block.withUnsafeBytes({ write(descriptor, $0.baseAddress, $0.count) }) > 0 {}
        close(descriptor)
        let ledger = try Ledger(disk.directory, epoch: 2)
        #expect(ledger.run.head == 3)
        #expect(try await ledger.all().map(\.sequence) == [1, 2, 3])
        ledger.journal.close()
        try await disk.end()
    }
    @Test("read-only at the start: refused so that a service manager tries again") func readOnly() async throws {
        let disk = try await SmallDisk(megabytes: 4)
        try Ledger(disk.directory).journal.close()
        try await disk.remount("ro")
        let error = #expect(throws: RelayError.self) { _ = try EventJournal(directory: disk.directory.path) }
        #expect(error?.code == .unavailable && error?.cause as? SystemError == SystemError(EROFS))
        #expect(
            error?.message
                == "cannot open \(disk.directory.path)/lock: Read-only file system; look why it is read-only, and make it "
                + "writable")
        try await disk.remount("rw")
        try Ledger(disk.directory, epoch: 2).journal.close()
        try await disk.end()
    }
    @Test(
        "a file system that the kernel has made read-only after an error: commits are refused, reads go on",
        .enabled(if: FailingDisk.isPossible, "no loop device with ext4 can be mounted here; see StorageTroubleTests"))
    func becameReadOnly() async throws {
        let disk = try await FailingDisk()
        let ledger = try Ledger(disk.directory)
        try await ledger.book(1, 2)
        try disk.fail()
        for _ in 0..<3 {
            let error = await #expect(throws: RelayError.self) { try await ledger.book(3) }
            #expect(error?.code == .unavailable && error?.mayHaveRun == false, "\(String(describing: error))")
            #expect((error?.cause as? SQLiteError)?.system == SystemError(EROFS), "\(String(describing: error))")
        }
        #expect(ledger.journal.failure == nil && ledger.stream.sequences == [1, 2])
        #expect(try await ledger.all().map(\.sequence) == [1, 2])
        let storage = try #require(ledger.storage as? JournalStorage)
        await storage.call { _ = $0.checkpoint(.passive) }
        #expect(ledger.journal.failure == nil)
        #expect(try await ledger.all().map(\.sequence) == [1, 2])
        ledger.journal.close()
    }
}
