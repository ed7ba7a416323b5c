import RelayBridge
import RelayCore
import RelayDaemon
import RelayTestKit
import RelayTool
import TestTraits
import Testing

@testable import relay_bridge

@Suite("The command line of relay-bridge") struct BridgeOptionsTests {
    private func options(_ arguments: String..., machine: String = "Kitchen.example.org") throws -> BridgeOptions? {
        if case .run(let options) = try BridgeOptions.parse(arguments, machine: machine) { options } else { nil }
    }
    private func message(_ arguments: String..., machine: String = "kitchen") -> String {
        do throws(ServiceFailure) { _ = try BridgeOptions.parse(arguments, machine: machine) } catch {
            return error.message
        }
        return ""
    }

    @Test("services go out under the machine's name, unless it is named; mirrors name theirs") func hosts() throws {
        let both = try #require(
            try options(
                "--carrier", "/c", "--export", "org.example.A,org.example.B", "--mirror", "hall/org.example.A",
                "--system"))
        #expect(both.host == "kitchen" && both.exports == ["org.example.A", "org.example.B"])
        #expect(both.mirrors.map(\.description) == ["org.eventrelay.Mirror1.hall.org.example.A"])
        #expect(both.carrier == .folder("/c") && both.interfaces.isEmpty && both.logLevel == .info)
        #expect(both.admitted == nil && both.policy == nil)
        let named = try #require(
            try options(
                "--carrier", "/c", "--host", "hall", "--export", "org.example.A", "--interface",
                "org.example.A1,org.example.B1", "--admit", "anyone"))
        #expect(named.host == "hall" && named.interfaces == ["org.example.A1", "org.example.B1"])
        #expect(named.admitted == .anyone)
        // Who only mirrors needs no name.
        #expect(try options("--carrier", "/c", "--mirror", "hall/a.b", machine: "") != nil)
    }
    @Test("servers of NATS have their settings, and are shown without a password") func nats() throws {
        let given = try #require(
            try options(
                "--carrier", "nats://me:secret@one:4222,tls://two:4222", "--export", "org.example.A", "--credentials",
                "/k/a.creds", "--tls-authorities", "/k/ca.pem", "--tls-certificate", "/k/c.pem", "--tls-key",
                "/k/k.pem",
                "--make-streams", "no", "--cloud-events", "yes", "--replicas", "3", "--keep-bytes", "5000000",
                "--keep-days", "7"))
        var settings = NatsSettings(servers: ["nats://me:secret@one:4222", "tls://two:4222"])
        settings.credentials = "/k/a.creds"
        var tls = NatsSettings.TLS()
        (tls.authorities, tls.certificate, tls.key) = ("/k/ca.pem", "/k/c.pem", "/k/k.pem")
        (settings.tls, settings.makesStreams, settings.replicas) = (tls, false, 3)
        (settings.limits.bytes, settings.limits.age) = (5_000_000, .seconds(604_800))
        #expect(given.carrier == .nats(settings) && given.makesCloudEvents)
        #expect("\(given.carrier)" == "nats://one:4222, tls://two:4222")
    }
    @Test("what is wrong is said with the word that is, and what to do") func refusals() {
        #expect(
            message("--export", "a.b", "--carrier", "/c", "--cloud-events", "yes").hasPrefix(
                "option '--cloud-events' is for NATS"))
        #expect(message("--export", "a.b") == "there is no carrier; give a folder or NATS servers with --carrier")
        #expect(message("--carrier", "/c").hasPrefix("there is nothing to do; give --export SERVICE"))
        #expect(
            message("--export", "a.b", "--carrier", "/c", machine: "").contains(
                "this machine's name '' is no host's name"))
        #expect(
            message("--export", "a.b", "--carrier", "/c", "--host", "A").contains("'A' is no host's name for mirrors"))
        #expect(message("--export", "a.b", "--carrier", "/c", "--interface", "x").contains("is no interface's name"))
        #expect(message("--export", "org.eventrelay.Mirror1.a.b.c", "--carrier", "/c").contains("is a mirror"))
        #expect(message("--mirror", "a.b", "--carrier", "/c").contains("is no service of a host"))
        #expect(
            message("--mirror", "kitchen/a.b", "--export", "a.b", "--carrier", "/c").contains("mirrored from there"))
        #expect(message("--export", "a.b", "--carrier", "here").contains("is no carrier"))
        #expect(message("--export", "a.b", "--carrier", "/c,nats://a").contains("and not both"))
        #expect(message("--export", "a.b", "--carrier", "/c,/d").contains("give one folder"))
        #expect(message("--export", "a.b", "--carrier", "/c", "--replicas", "3").contains("'--replicas' is for NATS"))
        #expect(message("--export", "a.b", "--carrier", "tls://a", "--tls-key", "/k").contains("goes with its key"))
        #expect(message("--bus-policy", "a b").contains("'a b' is no user's name"))
        #expect(message("--export", "a.b", "--carrier", "/c", "--session", "--system").contains("two buses are named"))
    }
    @Test("settings say the same, below what is typed, and are checked") func settings() throws {
        let folder = try TestFolder()
        try folder.write(
            "[Bridge]\nExport=org.example.A\nCarrier=nats://one:4222\nKeepDays=7\nMirror=hall/org.example.B\n",
            to: "relay-bridge.conf")
        func parse(_ arguments: String...) throws -> DaemonRequest<BridgeOptions> {
            try BridgeOptions.parse(arguments, machine: "kitchen", folders: [folder.path])
        }
        guard case .run(let options) = try parse("--config", "relay-bridge.conf", "--export", "org.example.C") else {
            Issue.record("it does not run")
            return
        }
        var nats = NatsSettings(servers: ["nats://one:4222"])
        nats.limits.age = .seconds(604_800)
        #expect(options.exports == ["org.example.C"] && options.carrier == .nats(nats))
        guard case .checked(let text) = try parse("--check-config") else {
            Issue.record("nothing was checked")
            return
        }
        #expect(text.contains("[Bridge]\nExport=org.example.A\n"))
        try folder.write("[Bridge]\nExprot=org.example.A\n", to: "relay-bridge.conf")
        let failure = #expect(throws: ServiceFailure.self) { try parse("--check-config") }
        #expect(failure?.code == .wrongSettings && failure?.message.contains("Export") == true, "\(failure as Any)")
    }
    @Test("help, manual and policy are asked for by their options") func texts() throws {
        func request(_ arguments: String...) throws -> DaemonRequest<BridgeOptions> {
            try BridgeOptions.parse(arguments, machine: "kitchen")
        }
        if case .help = try request("--help") {} else { Issue.record("no help") }
        if case .manual = try request("--manual") {} else { Issue.record("no manual") }
        let policy = try options("--bus-policy", "bridge:readers", "--mirror", "hall/a.b")
        #expect(policy?.policy == BridgeOptions.Policy(user: "bridge", group: "readers") && policy?.mirrors.count == 1)
        #expect(try options("--bus-policy", "bridge")?.policy == BridgeOptions.Policy(user: "bridge", group: nil))
    }
    @Test("a policy lets one user own the names, and a group alone use the mirrors and hear them") func policy() throws
    {
        let mirror = try MirrorName(of: "a.b", at: "hall")
        let closed = MirrorName.policy(for: "bridge", group: "readers", mirrors: [mirror])
        let uses = """
                <allow send_destination_prefix="org.eventrelay.Mirror1"/>
                <allow send_destination="org.eventrelay.Bridge1"/>
                <allow receive_sender="org.eventrelay.Mirror1.hall.a.b"/>

            """
        #expect(
            closed.contains(
                """
                  <policy context="default">
                    <deny receive_sender="org.eventrelay.Mirror1.hall.a.b" receive_type="signal"/>
                  </policy>
                """))
        #expect(closed.contains("  <policy group=\"readers\">\n\(uses)  </policy>\n"), "\(closed)")
        #expect(closed.contains("<policy user=\"bridge\">\n    <allow own_prefix=\"org.eventrelay.Mirror1\"/>"))
        let open = MirrorName.policy(for: "bridge", group: nil, mirrors: [])
        #expect(!open.contains("deny") && !open.contains("group") && open.contains("context=\"default\""))
    }
}
