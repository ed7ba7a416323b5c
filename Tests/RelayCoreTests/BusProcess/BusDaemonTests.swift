import BusProcess
import Glibc
import RelayTestKit
import TestTraits
import Testing

@testable import RelayCore

@Suite("A private bus", .heavy) struct BusDaemonTests {
    /// A folder that goes with this.
    private final class Folder: Sendable {
        let path: String
        private let parent: String
        init(_ name: String = "bus") throws {
            var template = Array("/tmp/eventrelay-test-XXXXXX".utf8CString)
            try #require(mkdtemp(&template) != nil)
            parent = String(decoding: template.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
            path = "\(parent)/\(name)"
            try #require(mkdir(path, 0o700) == 0)
        }
        deinit {
            for name in ["bus", "bus.conf", "bus.log"] { unlink("\(path)/\(name)") }
            rmdir(path)
            rmdir(parent)
        }
    }
    private func connects(_ address: String) async -> Bool {
        guard let loop = try? BusLoop(name: "probe") else { return false }
        let handler = RecordingHandler()
        let connection = try? await BusConnection.connect(to: .address(address), on: loop, handler: handler)
        connection?.close()
        loop.stop()
        return connection != nil
    }

    @Test(
        "works in folders with odd names",
        arguments: [
            "with space", "percent%41", "quote'and\"quote", "<&amp;>", "comma,semicolon;equals=", "ümläut", "*?[x]",
        ])
    func oddNames(name: String) async throws {
        let folder = try Folder(name)
        let daemon = try BusDaemon(directory: folder.path)
        #expect(BusDaemon.isAnswering("\(folder.path)/bus"))
        #expect(await connects(daemon.address))
        await daemon.stop()
    }
    @Test("has the limits that dbus-daemon's own session bus has") func limits() throws {
        let installed = try #require(try? text(of: "/usr/share/dbus-1/session.conf"))
        let folder = try Folder()
        let daemon = try BusDaemon(directory: folder.path)
        defer { daemon.process.terminate() }
        let expected = limits(in: installed)
        #expect(expected.count > 10 && expected["max_outgoing_unix_fds"] != nil)
        #expect(limits(in: try text(of: "\(folder.path)/bus.conf")) == expected)
    }
    private func text(of path: String) throws -> String {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { throw SystemError(errno) }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: 64 << 10)
        let count = read(file, &bytes, bytes.count)
        return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
    }
    private func limits(in text: String) -> [String: Int] {
        var limits: [String: Int] = [:]
        for line in text.split(separator: "<limit name=\"").dropFirst() {
            let parts = line.split(separator: "\"", maxSplits: 1)
            guard parts.count == 2, let value = parts[1].dropFirst().split(separator: "<").first else { continue }
            limits[String(parts[0])] = Int(value)
        }
        return limits
    }
    @Test("a bus that runs there already is a conflict, and keeps its socket") func conflict() async throws {
        let folder = try Folder()
        let daemon = try BusDaemon(directory: folder.path)
        let error = #expect(throws: RelayError.self) { try BusDaemon(directory: folder.path) }
        #expect(error?.code == .conflict && error?.message.contains(daemon.address) == true)
        #expect(await connects(daemon.address))
        // Stopped is not gone.
        daemon.process.signal(SIGSTOP)
        let second = #expect(throws: RelayError.self) { try BusDaemon(directory: folder.path) }
        #expect(second?.code == .conflict)
        daemon.process.signal(SIGCONT)
        await daemon.stop()
    }
    @Test("of several that start at once in one folder, one wins and serves") func simultaneous() async throws {
        let folder = try Folder()
        let results = await withTaskGroup { group in
            for _ in 0..<4 { group.addTask { Result { try BusDaemon(directory: folder.path) } } }
            return await group.reduce(into: []) { $0.append($1) }
        }
        let daemons = results.compactMap { try? $0.get() }
        #expect(daemons.count == 1)
        for case .failure(let error) in results { #expect((error as? RelayError)?.code == .conflict) }
        if let daemon = daemons.first {
            #expect(await connects(daemon.address))
            await daemon.stop()
        }
    }
    @Test("a killed daemon's socket is taken over") func staleSocket() async throws {
        let folder = try Folder()
        let first = try BusDaemon(directory: folder.path)
        first.process.signal(SIGKILL)
        #expect(await first.process.waitForExit() == .signal(SIGKILL))
        var status = stat()
        #expect(stat("\(folder.path)/bus", &status) == 0)
        #expect(!BusDaemon.isAnswering("\(folder.path)/bus"))
        let second = try BusDaemon(directory: folder.path)
        #expect(await connects(second.address))
        await second.stop()
    }
    @Test("what keeps a daemon from starting is in the error") func reasons() throws {
        let folder = try Folder()
        let broken = #expect(throws: RelayError.self) { try BusDaemon(directory: folder.path, policy: "<nonsense>") }
        #expect(
            broken?.code == .unavailable && broken?.message.contains("nonsense") == true, "\(broken?.message ?? "")")
        let absent = #expect(throws: RelayError.self) { try BusDaemon(directory: "\(folder.path)/absent") }
        #expect(absent?.code == .unavailable && (absent?.cause as? SystemError)?.code == ENOENT)
        let long = try Folder(String(repeating: "x", count: 120))
        let tooLong = #expect(throws: RelayError.self) { try BusDaemon(directory: long.path) }
        #expect(tooLong?.code == .unavailable && tooLong?.message.contains("long") == true, "\(tooLong?.message ?? "")")
    }
    @Test("leaves no file and no process behind when it is released") func cleanUp() async throws {
        var bus: PrivateBus? = try PrivateBus()
        let (directory, id) = (try #require(bus?.directory), try #require(bus?.processID))
        #expect(access(directory, F_OK) == 0 && kill(id, 0) == 0)
        bus = nil
        #expect(await eventually { kill(id, 0) != 0 })
        #expect(access(directory, F_OK) != 0)
    }
    @Test("only the owner can read its configuration and log") func permissions() async throws {
        let bus = try PrivateBus()
        for name in ["bus.conf", "bus.log"] {
            var status = stat()
            #expect(stat("\(bus.directory)/\(name)", &status) == 0)
            #expect(status.st_mode & 0o777 == 0o600)
        }
        await bus.stop()
    }
}
