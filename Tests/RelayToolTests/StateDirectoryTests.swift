import Glibc
import RelayCore
import RelayTestKit
import RelayTool
import TestTraits
import Testing

@Suite("The state directory", .tags(.g8))
struct StateDirectoryTests {
    @Test(
        "is the one asked for, else systemd's first, else in the XDG folder, else in HOME; relative paths do not count",
        arguments: [
            ("mine", ["STATE_DIRECTORY": "/var/lib/a"], "mine", false),
            (nil, ["STATE_DIRECTORY": "/var/lib/a", "XDG_STATE_HOME": "/x", "HOME": "/h"], "/var/lib/a", false),
            (nil, ["STATE_DIRECTORY": "/var/lib/a:/var/lib/b"], "/var/lib/a", false),
            (nil, ["STATE_DIRECTORY": "", "XDG_STATE_HOME": "/x", "HOME": "/h"], "/x/relay", true),
            (nil, ["STATE_DIRECTORY": "a", "XDG_STATE_HOME": "x", "HOME": "/h"], "/h/.local/state/relay", true),
        ] as [(String?, [String: String], String, Bool)])
    func order(asked: String?, environment: [String: String], path: String, isDefault: Bool) throws {
        let found = try StateDirectory.find(asked, environment: environment)
        #expect(found == StateDirectory(path: path, isDefault: isDefault))
    }

    @Test("is refused, with what to do, where nothing names one", arguments: [[:], ["HOME": ""], ["HOME": "here"]])
    func nothing(environment: [String: String]) {
        #expect {
            try StateDirectory.find(nil, environment: environment)
        } throws: { error in
            .invalidArgument ~= error && "\(error)".contains("--state-directory DIR")
        }
    }

    @Test("that is the default is made with the folders above it, all closed to others")
    func makesDefault() throws {
        let folder = try TestFolder()
        let state = StateDirectory(path: folder.path + "/.local/state/relay", isDefault: true)
        for _ in 1...2 { try state.prepare() }
        for part in ["/.local", "/.local/state", "/.local/state/relay"] {
            #expect(FileStatus(ofFileAt: folder.path + part)?.isPrivateFolder(of: geteuid()) ?? false, "\(part)")
        }
    }

    @Test("that was named is made, but not the folders above it")
    func makesNamed() throws {
        let folder = try TestFolder()
        try StateDirectory(path: folder.path + "/new", isDefault: false).prepare()
        #expect(FileStatus(ofFileAt: folder.path + "/new")?.isPrivateFolder(of: geteuid()) ?? false)
        #expect {
            try StateDirectory(path: folder.path + "/typo/new", isDefault: false).prepare()
        } throws: { error in
            .unavailable ~= error && "\(error)".contains("\(folder.path)/typo/new cannot be made: No such file")
        }
        #expect(FileStatus(ofFileAt: folder.path + "/typo") == nil)
    }

    @Test("may be a link to a folder, and not a file")
    func otherThanAFolder() throws {
        let folder = try TestFolder()
        try #require(mkdir(folder.path + "/real", 0o700) == 0)
        try #require(symlink(folder.path + "/real", folder.path + "/link") == 0)
        try StateDirectory(path: folder.path + "/link", isDefault: false).prepare()
        try folder.write("", to: "file")
        #expect {
            try StateDirectory(path: folder.path + "/file", isDefault: false).prepare()
        } throws: { error in
            .unavailable ~= error && "\(error)".contains("\(folder.path)/file cannot be used: Not a directory")
        }
    }
}
