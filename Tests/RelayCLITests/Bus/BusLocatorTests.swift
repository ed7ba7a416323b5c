import RelayTool
import Testing

@testable import relay_cli

@Suite("Which bus")
struct BusLocatorTests {
    private func locator(
        _ environment: [String: String], _ files: [String: FileStatus] = [:]
    ) -> BusLocator {
        BusLocator(environment: environment, userID: 1000) { files[$0] }
    }
    private let folder = FileStatus(kind: .folder, owner: 1000, mode: 0o700)
    private let socket = FileStatus(kind: .socket, owner: 1000, mode: 0o666)

    @Test("what is asked for is taken, whatever there is")
    func explicit() throws {
        let locator = locator(["DBUS_SESSION_BUS_ADDRESS": "unix:path=/x"])
        #expect(try locator.locate(.system) == .system)
        #expect(try locator.locate(.address("a:b")) == .address("a:b"))
    }

    @Test("the session bus comes before the own bus")
    func session() throws {
        let files = ["/tmp/eventrelay-1000": folder, "/tmp/eventrelay-1000/bus": socket]
        #expect(try locator(["DBUS_SESSION_BUS_ADDRESS": "unix:path=/x"], files).locate(nil) == .session)
        #expect(
            try locator(["DBUS_SESSION_BUS_ADDRESS": ""], files).locate(nil)
                == .address("unix:path=/tmp/eventrelay-1000/bus"))
    }

    @Test("the own bus is looked for in the runtime folder, then in the temporary one")
    func ownBus() throws {
        let environment = ["XDG_RUNTIME_DIR": "/run/user/1000", "TMPDIR": "/var/tmp"]
        let temporary = ["/var/tmp/eventrelay-1000": folder, "/var/tmp/eventrelay-1000/bus": socket]
        #expect(
            try locator(environment, temporary).locate(nil) == .address("unix:path=/var/tmp/eventrelay-1000/bus"))
        let both = temporary.merging(
            ["/run/user/1000/eventrelay": folder, "/run/user/1000/eventrelay/bus": socket]
        ) { $1 }
        #expect(
            try locator(environment, both).locate(nil) == .address("unix:path=/run/user/1000/eventrelay/bus"))
    }

    @Test(
        "a folder that others can reach, or that is another's or a link, is not trusted",
        arguments: [
            FileStatus(kind: .folder, owner: 1000, mode: 0o755),
            FileStatus(kind: .folder, owner: 1000, mode: 0o710),
            FileStatus(kind: .folder, owner: 1000, mode: 0o1777),
            FileStatus(kind: .folder, owner: 0, mode: 0o700),
            FileStatus(kind: .other, owner: 1000, mode: 0o700),
        ])
    func untrusted(status: FileStatus) throws {
        let locator = locator([:], ["/tmp/eventrelay-1000": status, "/tmp/eventrelay-1000/bus": socket])
        let failure = try #require(throws: CLIFailure.self) { try locator.locate(nil) }
        #expect(
            failure
                == CLIFailure(
                    .unavailable,
                    "no bus: '/tmp/eventrelay-1000' is not used, as it is not a folder of yours that is closed to others "
                        + "(0700); start 'relay-service --own-bus', set DBUS_SESSION_BUS_ADDRESS, or give --bus ADDRESS"
                ))
    }

    @Test("no bus at all says what to do")
    func none() throws {
        for files in [[:], ["/tmp/eventrelay-1000": folder]] {
            let failure = try #require(throws: CLIFailure.self) { try locator([:], files).locate(nil) }
            #expect(
                failure
                    == CLIFailure(
                        .unavailable,
                        "no bus: DBUS_SESSION_BUS_ADDRESS is not set, and XDG_RUNTIME_DIR has no socket 'bus'; start "
                            + "'relay-service --own-bus', set DBUS_SESSION_BUS_ADDRESS, or give --bus ADDRESS"))
        }
    }

    @Test("a session bus that only XDG_RUNTIME_DIR shows is found, behind the own bus")
    func runtimeBus() throws {
        let environment = ["XDG_RUNTIME_DIR": "/run/user/1000", "TMPDIR": "/nonexistent"]
        let files = ["/run/user/1000/bus": socket]
        #expect(try locator(environment, files).locate(nil) == .session)
        let both = files.merging(
            ["/run/user/1000/eventrelay": folder, "/run/user/1000/eventrelay/bus": socket]
        ) { $1 }
        #expect(try locator(environment, both).locate(nil) == .address("unix:path=/run/user/1000/eventrelay/bus"))
        #expect(throws: CLIFailure.self) { try locator(environment, ["/run/user/1000/bus": folder]).locate(nil) }
    }

    @Test("a relative folder in the environment is not used")
    func relative() {
        #expect(
            locator(["XDG_RUNTIME_DIR": "run", "TMPDIR": "t"]).ownBusFolders.map(\.path) == ["/tmp/eventrelay-1000"])
    }

    @Test("bytes that mean something in an address are escaped")
    func escaping() throws {
        let folder = "/a b,c=d;é%/eventrelay"
        let locator = locator(["XDG_RUNTIME_DIR": "/a b,c=d;é%"], [folder: self.folder, folder + "/bus": socket])
        #expect(try locator.locate(nil) == .address("unix:path=/a%20b%2cc%3dd%3b%c3%a9%25/eventrelay/bus"))
    }
}
