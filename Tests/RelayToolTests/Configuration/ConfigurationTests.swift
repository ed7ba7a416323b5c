import Glibc
import RelayTestKit
import RelayTool
import Testing
@Suite("Configuration files") struct ConfigurationTests {
    private typealias Assignment = ConfigurationFile.Assignment

    private static let level = Option<String?>("log-level", .word("LEVEL", ["info", "debug"]) { $0 }, "the least")
    private static let rate = Option<Double?>("rate", .decimal("N", of: "samples a second", 0.1...10_000), "how many")
    private static let quiet = Option(switch: "own-bus", "a bus of its own")
    private static let keys = ConfigurationKeys(section: "Service", [level, rate, quiet])

    private static func arguments(_ texts: String...) throws -> [String] {
        var assignments: [Assignment] = []
        for (index, text) in texts.enumerated() {
            assignments += try ConfigurationFile(text, name: "\(index).conf").assignments
        }
        return try keys.settings(of: assignments).map(\.argument)
    }

    @Test("comments, blanks and joined lines are read as systemd reads them") func syntax() throws {
        let file = try ConfigurationFile(
            """
            # a comment
            ; another

            [Service]
              LogLevel = debug\u{20}\u{20}
            Domain=relocation,\\
            # within a joined line
              telemetry
            Empty=
            Equals=a=b
            """, name: "x.conf")
        #expect(file.assignments.map(\.section) == Array(repeating: "Service", count: 4))
        #expect(file.assignments.map(\.key) == ["LogLevel", "Domain", "Empty", "Equals"])
        #expect(file.assignments.map(\.value) == ["debug", "relocation, telemetry", "", "a=b"])
        #expect(file.assignments.map(\.place.description) == ["x.conf:5", "x.conf:6", "x.conf:9", "x.conf:10"])
    }

    @Test(
        "a byte order mark and the line ends of other systems are read as systemd reads them",
        arguments: ["\n", "\r\n"]) func foreignFile(end: String) throws
    {
        let text = ["[Service]", "Rate=1", "LogLevel=debug"].joined(separator: end)
        #expect(try Self.arguments("\u{FEFF}" + text) == ["--rate=1", "--log-level=debug"])
        #expect(try Self.arguments("\u{FEFF}# a comment" + end + text + end) == ["--rate=1", "--log-level=debug"])
    }

    @Test(
        "what is no configuration is refused with file and line",
        arguments: [
            ("[Service]\nLogLevel", "0.conf:2: 'LogLevel' is no assignment; one looks like Key=value"),
            ("[Service]\n=x", "0.conf:2: '=x' is no assignment; one looks like Key=value"),
            ("\n\n[Service", "0.conf:3: '[Service' is no section; one looks like [Service]"),
            ("[Service]\nRate=\u{0}1", "0.conf:2: the line has a NUL"),
            ("[]", "0.conf:1: '[]' is no section; one looks like [Service]"),
            ("Rate=1", "0.conf:1: 'Rate=1' stands before any section; begin with [Service]"),
            ("[Unit]\nRate=1", "0.conf:2: unknown section [Unit]; there is [Service]"),
            ("[Service]\nLoglevel=info", "0.conf:2: unknown key 'Loglevel'; did you mean 'LogLevel'?"),
            ("[Service]\nX=1", "0.conf:2: unknown key 'X'; there are LogLevel, Rate and OwnBus"),
            ("[Service]\nOwnBus=perhaps", "0.conf:2: OwnBus: 'perhaps' is neither yes nor no"),
            ("[Service]\nLogLevel=loud", "0.conf:2: LogLevel: 'loud' is no level; there are info and debug"),
            (
                "[Service]\nRate=fast",
                "0.conf:2: Rate: 'fast' is no number of samples a second between 0.1 and 10000"
            ),
        ]) func refusals(text: String, message: String)
    {
        #expect(throws: ConfigurationError(message)) { try Self.arguments(text) }
    }

    @Test("the last assignment of a key counts, and an empty one takes it back") func precedence() throws {
        #expect(try Self.arguments("[Service]\nRate=1\nLogLevel=info\nRate=2") == ["--log-level=info", "--rate=2"])
        #expect(try Self.arguments("[Service]\nRate=1", "[Service]\nRate=\nOwnBus=yes") == ["--own-bus"])
        #expect(try Self.arguments("[Service]\nOwnBus=yes\nOwnBus=off") == [])
    }

    @Test("any bytes end in assignments or a message") func anything() {
        var generator = SystemRandomNumberGenerator()
        let parts = ["[", "]", "=", "\\", "\n", "#", ";", " ", "Rate", "Service", "1", "\r", "ä", "\u{0}"]
        for _ in 0..<2_000 {
            let text = (0..<Int.random(in: 0...30, using: &generator)).map { _ in
                parts.randomElement(using: &generator) ?? ""
            }.joined()
            do { _ = try Self.arguments(text) } catch let error as ConfigurationError {
                #expect(error.message.hasPrefix("0.conf:"), "\(text.debugDescription)")
            } catch { Issue.record("\(error)") }
        }
    }

    @Test("the first folder's main file counts, then drop-ins by name, each from the first folder that has it")
    func search() throws {
        let root = try TestFolder()
        let folders = ["etc", "run", "lib"].map { "\(root.path)/\($0)" }
        let search = ConfigurationSearch(name: "relay.conf", folders: folders)
        #expect(search.files() == [])
        #expect(try ConfigurationSearch.assignments(of: search.files()) == [])
        try root.write("lib/relay.conf", "[Service]\nRate=1\n")
        try root.write("lib/relay.conf.d/20-b.conf", "[Service]\nRate=3\n")
        try root.write("lib/relay.conf.d/10-a.conf", "[Service]\nRate=2\n")
        try root.write("lib/relay.conf.d/readme", "not read")
        #expect(try ConfigurationSearch.assignments(of: search.files()).map(\.value) == ["1", "2", "3"])
        try root.write("etc/relay.conf", "[Service]\nRate=9\n")
        try root.write("run/relay.conf.d/15-c.conf", "[Service]\nRate=4\n")
        symlink("/dev/null", "\(root.path)/run/relay.conf.d/20-b.conf")
        #expect(try ConfigurationSearch.assignments(of: search.files()).map(\.value) == ["9", "2", "4"])
        #expect(
            search.files().map { $0.dropFirst(root.path.count) } == [
                "/etc/relay.conf", "/lib/relay.conf.d/10-a.conf", "/run/relay.conf.d/15-c.conf",
                "/run/relay.conf.d/20-b.conf",
            ])
    }

    @Test("a file that cannot be read is an error that names it, and never a wait") func unreadable() throws {
        let root = try TestFolder()
        let search = ConfigurationSearch(name: "relay.conf", folders: [root.path])
        let file = "\(root.path)/relay.conf"
        mkdir(file, 0o700)
        #expect(throws: ConfigurationError("\(file) cannot be read: Is a directory")) {
            try ConfigurationSearch.assignments(of: search.files())
        }
        rmdir(file)
        mkfifo(file, 0o600)
        #expect(try ConfigurationSearch.assignments(of: search.files()) == [])
        unlink(file)
        try root.write("relay.conf", bytes: [0x5b, 0xff])
        #expect(throws: ConfigurationError("\(file) is not UTF-8")) {
            try ConfigurationSearch.assignments(of: search.files())
        }
        try root.write("relay.conf", bytes: Array(repeating: 0x0a, count: ConfigurationSearch.largestFile + 1))
        #expect(throws: ConfigurationError.self) { try ConfigurationSearch.assignments(of: search.files()) }
    }
}

extension TestFolder {
    /// Makes the folders above the file, too.
    fileprivate func write(_ name: String, _ text: String) throws { try write(name, bytes: Array(text.utf8)) }
    fileprivate func write(_ name: String, bytes: [UInt8]) throws {
        let parts = name.split(separator: "/").dropLast()
        for end in parts.indices { mkdir(path + "/" + parts[...end].joined(separator: "/"), 0o700) }
        let file = try #require(fopen("\(path)/\(name)", "w"))
        defer { fclose(file) }
        #expect(fwrite(bytes, 1, bytes.count, file) == bytes.count)
    }
}
