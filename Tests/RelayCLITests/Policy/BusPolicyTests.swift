import Glibc
import RelayCore
import RelayTestKit
import TestTraits
import Testing

@testable import relay_cli
import RelayWire

@Suite("The policy of a bus, as its files state it", .tags(.g8))
struct BusPolicyTests {
    private static let name = "org.example.Printer"
    private static let files = [
        "/bus/system.conf": """
        <!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
            "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
        <busconfig>
          <policy context="default">
            <deny own="*"/>
            <deny send_type="method_call"/>
            <allow send_type="signal"/>
            <allow send_destination="org.freedesktop.DBus" send_interface="org.freedesktop.DBus"/>
          </policy>
          <includedir>system.d</includedir>
          <include ignore_missing="yes">/etc/local.conf</include>
          <include ignore_missing="yes">missing.conf</include>
        </busconfig>
        """,
        "/bus/system.d/org.example.Printer.conf": """
        <busconfig>
          <policy user="printer"><allow own_prefix="org.example"/></policy>
          <policy group="printer-users">
            <allow send_destination="org.example.Printer"/>
          </policy>
          <policy group="staff">
            <allow send_destination="org.example.Printer" send_interface="org.example.Printing1"/>
          </policy>
          <policy user="0"><allow send_destination="org.example.Printer"/></policy>
          <policy at_console="true"><allow send_destination="org.example.Printer"/></policy>
        </busconfig>
        """,
        "/bus/system.d/README": "<busconfig><policy context=\"default\"><allow own=\"*\"/></policy></busconfig>",
        "/etc/local.conf": """
        <busconfig><policy context="mandatory"><deny send_destination="org.example.Closed"/></policy></busconfig>
        """,
    ]
    private static func reader(_ files: [String: String] = files) -> PolicyReader {
        PolicyReader(content: { files[$0].map { .whole($0) } }) { folder, _ in
            files.keys.filter { $0.hasPrefix(folder + "/") }.map { String($0.dropFirst(folder.count + 1)) }
        }
    }
    private func account(_ user: UInt32, _ name: String, _ groups: Set<String> = []) -> UserAccount {
        UserAccount(userID: user, userName: name, groups: groups, groupsAtLogin: groups)
    }

    @Test("who may own a name and call its owner follows from the files that a configuration includes")
    func rules() throws {
        let policy = try #require(Self.reader().policy(at: "/bus/system.conf"))
        let (alice, bob) = (account(1_000, "alice"), account(1_001, "bob", ["printer-users"]))
        #expect(!policy.allowsCalling(Self.name, alice) && policy.allowsCalling(Self.name, bob))
        // By its number; and a rule for one interface does not let a client ask what there is.
        #expect(policy.allowsCalling(Self.name, account(0, "root")))
        #expect(!policy.allowsCalling(Self.name, account(1_002, "carol", ["staff"])))
        #expect(policy.groups(thatCall: Self.name) == ["printer-users"])
        #expect(!policy.allowsOwning(Self.name, alice) && policy.allowsOwning(Self.name, account(9, "printer")))
        #expect(!policy.allowsOwning("org.examples.Printer", account(9, "printer")))
        #expect(policy.owners(of: Self.name) == [.user("printer")])
        #expect(policy.groups(thatCall: "org.example.Closed").isEmpty)
    }
    @Test("the last rule that matches decides: those for everyone, of groups, of users, then mandatory ones")
    func order() throws {
        let text = """
            <busconfig>
              <policy user="alice"><deny send_destination="a.b"/></policy>
              <policy context="mandatory"><deny own="a.c"/></policy>
              <policy context="default"><allow send_destination="*"/><allow own="*"/></policy>
              <policy group="staff"><allow send_destination="a.b"/></policy>
            </busconfig>
            """
        let policy = try #require(Self.reader(["/c": text]).policy(at: "/c"))
        #expect(!policy.allowsCalling("a.b", account(1_000, "alice", ["staff"])))
        #expect(policy.allowsCalling("a.b", account(1_001, "bob")))
        #expect(!policy.allowsOwning("a.c", account(0, "root")) && policy.allowsOwning("a.d", account(1_001, "bob")))
    }
    /// Whether a user may call `a.b` after this rule, where everything was denied or allowed before.
    private func calls(_ rule: String, _ default: String = "deny") throws -> Bool {
        let text =
            "<busconfig><policy context=\"default\"><\(`default`) send_destination=\"*\"/>\(rule)</policy></busconfig>"
        return try #require(Self.reader(["/c": text]).policy(at: "/c")).allowsCalling("a.b", account(1_000, "alice"))
    }
    @Test(
        "a star stands for anything in every attribute that knows one",
        arguments: [
            "send_path", "send_error", "send_type", "send_interface", "send_member", "send_destination",
        ])
    func wildcards(attribute: String) throws {
        let others = attribute == "send_destination" ? "" : "send_destination=\"a.b\" "
        #expect(try calls("<allow \(others)\(attribute)=\"*\"/>"))
        #expect(try !calls("<deny \(others)\(attribute)=\"*\"/>", "allow"))
    }
    @Test("a rule that is not about a call without descriptors changes nothing; one of errors excludes no call")
    func otherMessages() throws {
        for attributes in [
            "send_type=\"signal\"", "send_broadcast=\"true\"", "send_path=\"/org\"", "send_destination_prefix=\"*\"",
            "send_destination=\"a.b\" min_fds=\"1\"", "own=\"*\"", "receive_sender=\"*\"",
        ] {
            #expect(try !calls("<allow \(attributes)/>") && calls("<deny \(attributes)/>", "allow"), "\(attributes)")
        }
        for attributes in [
            "send_error=\"a.b.Error\"", "send_destination=\"a.b\" max_fds=\"0\"", "send_requested_reply=\"true\"",
            "send_broadcast=\"false\"", "send_path=\"/\" send_member=\"Introspect\"",
        ] {
            #expect(try calls("<allow \(attributes)/>") && !calls("<deny \(attributes)/>", "allow"), "\(attributes)")
        }
    }
    @Test("a file that another user can write leaves the policy unknown") func foreign() throws {
        let folder = try TestFolder()
        try folder.write("<busconfig><include>b.conf</include></busconfig>", to: "a.conf")
        try folder.write("<busconfig/>", to: "b.conf")
        func policy(_ writers: Set<UInt32>) -> BusPolicy? {
            PolicyReader(content: { SmallFile.content($0, writtenBy: writers) }, names: { _, _ in [] }).policy(
                at: folder.path + "/a.conf")
        }
        #expect(policy([geteuid()]) == BusPolicy() && policy([geteuid() + 1]) == nil)
        try #require(chmod(folder.path + "/b.conf", 0o666) == 0)
        #expect(policy([geteuid()]) == nil)
    }
    @Test("what is no configuration is none, and files that include each other end")
    func broken() {
        for text in ["", "<busconfig", "<node/>", "<!DOCTYPE b [<!ENTITY e \"x\">]><busconfig>&e;</busconfig>"] {
            #expect(Self.reader(["/c": text]).policy(at: "/c") == nil, "\(text)")
        }
        #expect(Self.reader().policy(at: "/nowhere") == nil)
        let loop = "<busconfig><include>c</include><includedir>.</includedir></busconfig>"
        #expect(Self.reader(["/c": loop]).policy(at: "/c")?.rules == [])
    }
    @Test("a configuration without end is none, after a bounded number of reads") func endless() {
        let includes = String(repeating: "<includedir>many</includedir>", count: 2_100)
        for empty in [true, false] {
            var (files, folders) = (0, 0)
            let reader = PolicyReader(
                content: { path in
                    files += 1
                    return .whole(path == "/c" ? "<busconfig>\(includes)</busconfig>" : "<busconfig/>")
                },
                names: { _, most in
                    folders += 1
                    return empty ? [] : (0..<most).map { "\($0).conf" }
                })
            #expect(reader.policy(at: "/c", within: .seconds(300)) == nil)
            #expect(folders == 1 && files <= 2_000, "\(folders), \(files)")
        }
        #expect(Self.reader().policy(at: "/bus/system.conf", within: .zero) == nil)
    }
    @Test("a file that is not read whole leaves the policy unknown, and not a part of it") func large() throws {
        let folder = try TestFolder()
        try folder.write("<busconfig><include>b.conf</include></busconfig>", to: "a.conf")
        let start = "<busconfig><policy context=\"default\"><allow own=\"*\"/></policy>"
        let reader = PolicyReader(content: SmallFile.content, names: { _, _ in [] })
        for (size, isRead) in [(1 << 16, true), (1 << 16 + 1, false)] {
            let end = "</busconfig>"
            let blanks = String(repeating: " ", count: size - start.utf8.count - end.utf8.count)
            try folder.write(start + blanks + end, to: "b.conf")
            #expect((reader.policy(at: folder.path + "/a.conf")?.rules.count == 1) == isRead, "\(size)")
        }
        #expect(reader.policy(at: folder.path + "/a.conf") == nil)
    }
    @Test("only regular files are read") func irregular() throws {
        let folder = try TestFolder()
        try folder.write("x", to: "file")
        #expect(SmallFile.text(folder.path + "/file") == "x" && SmallFile.text("/proc/self/comm") != nil)
        let path = folder.path + "/pipe"
        try #require(mkfifo(path, 0o600) == 0)
        let pipe = open(path, O_RDWR | O_CLOEXEC)
        defer { close(pipe) }
        try #require(write(pipe, "x", 1) == 1)
        for path in [path, "/dev/null", folder.path, folder.path + "/none"] {
            #expect(SmallFile.content(path) == nil, "\(path)")
        }
    }
    @Test("what another user could write, or choose the content of, is not trusted") func untrusted() throws {
        let folder = try TestFolder()
        let path = folder.path + "/bus.conf"
        try folder.write("<busconfig/>", to: "bus.conf")
        let writers: Set<UInt32> = [0, geteuid()]
        func isTrusted(_ path: String, writers: Set<UInt32> = writers) -> Bool? {
            #expect(SmallFile.text(path) != nil, "\(path)")
            return SmallFile.content(path, writtenBy: writers).map { $0 != .foreign }
        }
        for (mode, group, expected) in [
            (0o600, nil, true), (0o644, nil, true), (0o646, nil, false), (0o664, 0, true), (0o664, 12_345, false),
            (0o644, 12_345, true),
        ] as [(mode_t, gid_t?, Bool)] {
            // Only root can give a file to a group that it is not in.
            if let group, geteuid() != 0, group != getegid() { continue }
            if let group { try #require(chown(path, geteuid(), group) == 0) }
            try #require(chmod(path, mode) == 0)
            #expect(isTrusted(path) == expected, "\(String(mode, radix: 8)) \(group ?? getegid())")
        }
        #expect(isTrusted(path, writers: [54_321]) == false)
        // Their owner is among those who are trusted, as that of a process that cannot be dumped is root.
        for path in ["/proc/self/cmdline", "/proc/self/comm", "/proc/version", "/proc/self/fd/../cmdline"] {
            #expect(isTrusted(path) == false, "\(path)")
        }
    }
    @Test("a bus that another user has started names no configuration", .heavy) func foreignBus() throws {
        let bus = try PrivateBus()
        let line = try BusLine(.address(bus.address), timeout: .seconds(25))
        #expect(line.busUser == geteuid())
        #expect(PolicyFiles.policy(of: .address(bus.address), line) != nil)
        for user in [54_321, nil] as [UInt32?] {
            let peer = FakePeer(busUser: user) { _ throws(RelayError) in
                FakePeer.reply("u") { $0.uint32(UInt32(bus.processID)) }
            }
            #expect(PolicyFiles.policy(of: .address(bus.address), peer) == nil)
            #expect(PolicyFiles.policy(of: .system, peer) == nil && peer.calls.isEmpty)
        }
    }
    @Test("the configuration is the one that the daemon's command line names")
    func commandLine() {
        func path(_ line: String) -> String? {
            PolicyFiles.configuration(inCommandLine: line.split(separator: " ").map(String.init))
        }
        #expect(path("/usr/bin/dbus-daemon --config-file=/x/bus.conf --nofork") == "/x/bus.conf")
        #expect(path("dbus-daemon --config-file /x/bus.conf") == "/x/bus.conf")
        #expect(path("@dbus-daemon --system") == nil)
        #expect(path("/usr/bin/dbus-daemon --system --address=systemd:") == "/usr/share/dbus-1/system.conf")
        #expect(path("dbus-daemon --session") == "/usr/share/dbus-1/session.conf")
        #expect(path("/usr/bin/other --config-file=/x/bus.conf") == nil && path("") == nil)
    }
    @Test("the policy that the packages install names their group")
    func packaged() throws {
        let path = "\(#filePath)".split(separator: "/").dropLast(4).map { "/" + $0 }.joined()
        let file = path + "/Packaging/dbus-1/system.d/org.eventrelay.Service1.conf"
        let reader = PolicyReader(content: SmallFile.content, names: { _, _ in [] })
        let policy = try #require(reader.policy(at: file))
        for name in ["org.eventrelay.Service1", "org.eventrelay.Telemetry1"] {
            #expect(policy.groups(thatCall: name) == ["eventrelay-users"])
            #expect(policy.owners(of: name) == [.user("eventrelay")])
        }
    }
    @Test("this process's account has its user and groups") func process() {
        let account = UserAccount.ofProcess()
        #expect(account.userID == SystemFacts.ofProcess().userID && !account.groups.isEmpty)
        #expect(account.contexts.contains(.user("\(account.userID)")))
    }
}
