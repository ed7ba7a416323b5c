import Glibc
import RelayCore
import TestTraits
import Testing

@testable import RelayTool

@Suite("The folder of the own bus", .heavy)
struct OwnBusFolderTests {
    /// Runs in a new folder, which is removed afterwards.
    private func inFolder(_ body: (_ path: String) throws -> Void) throws {
        var template = Array("/tmp/relay-tool-XXXXXX".utf8CString)
        try #require(mkdtemp(&template) != nil)
        let path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        defer {
            unlink(path + "/it")
            rmdir(path + "/it")
            rmdir(path)
        }
        try body(path)
    }

    @Test("is made for its user alone, and taken again")
    func made() throws {
        try inFolder { path in
            let folder = OwnBusFolder(path: path + "/it")
            try folder.prepare()
            try folder.prepare()
            #expect(FileStatus(ofFileAt: folder.path) == FileStatus(kind: .folder, owner: geteuid(), mode: 0o700))
        }
    }

    @Test("one that others can enter is refused", arguments: [0o701, 0o710, 0o702, 0o755, 0o1777] as [mode_t])
    func open(mode: mode_t) throws {
        try inFolder { path in
            let folder = OwnBusFolder(path: path + "/it")
            try #require(mkdir(folder.path, 0o700) == 0 && chmod(folder.path, mode) == 0)
            let error = #expect(throws: RelayError.self) { try folder.prepare() }
            #expect(error?.code == .unavailable)
            #expect(error?.message.contains(folder.path) == true)
        }
    }

    @Test("a link and a file in its place are refused")
    func notAFolder() throws {
        try inFolder { path in
            let folder = OwnBusFolder(path: path + "/it")
            try #require(symlink(path, folder.path) == 0)
            #expect(throws: RelayError.self) { try folder.prepare() }
            try #require(unlink(folder.path) == 0)
            close(creat(folder.path, 0o700))
            #expect(throws: RelayError.self) { try folder.prepare() }
        }
    }

    @Test("another user's is not private, whatever its mode")
    func anothers() {
        let folder = FileStatus(kind: .folder, owner: 1_000, mode: 0o700)
        #expect(folder.isPrivateFolder(of: 1_000))
        #expect(!folder.isPrivateFolder(of: 1_001))
        #expect(!folder.isPrivateFolder(of: 0))
    }

    @Test("one that cannot be made says why")
    func cannotBeMade() throws {
        try inFolder { path in
            let folder = OwnBusFolder(path: path + "/missing/it")
            let error = #expect(throws: RelayError.self) { try folder.prepare() }
            #expect(error?.message.contains("cannot make the folder \(folder.path)") == true)
        }
    }
}
