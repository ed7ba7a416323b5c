import RelayCore
import RelayDaemon
import RelayTool
import TestTraits
import Testing

@testable import relay_bridge

@Suite("The command line of relay-bridge") struct BridgeOptionsTests {
    private func options(_ arguments: String..., machine: String = "Kitchen.example.org") throws -> BridgeOptions? {
        if case .run(let options) = try BridgeOptions.parse(arguments, machine: machine) { options } else { nil }
    }
    private func message(_ arguments: String..., machine: String = "kitchen") -> String {
        do throws(UsageError) { _ = try BridgeOptions.parse(arguments, machine: machine) } catch {
            return error.message
        }
        return ""
    }

    @Test("an exporter's host is the machine's, unless it is named; a mirror's is named") func hosts() throws {
        let export = try #require(try options("export", "--carrier", "/c", "org.example.A", "org.example.B"))
        #expect(export.host == "kitchen" && export.services == ["org.example.A", "org.example.B"])
        #expect(export.carrier == "/c" && export.interfaces.isEmpty && export.logLevel == .info)
        if case .mirror = export.task { Issue.record("a mirror") }
        let mirror = try #require(
            try options(
                "mirror", "--system", "--carrier", "/c", "--host", "hall", "--interface",
                "org.example.A1,org.example.B1",
                "--state-directory", "/s", "org.example.A"))
        #expect(mirror.host == "hall" && mirror.interfaces == ["org.example.A1", "org.example.B1"])
        if case .mirror(let directory) = mirror.task { #expect(directory == "/s") } else { Issue.record("no mirror") }
        #expect(message("mirror", "--carrier", "/c", "a.b") == "there is no host; give the origin's with --host HOST")
    }
    @Test("what is wrong is said with the word that is, and what to do") func refusals() {
        #expect(message("export", "a.b") == "there is no carrier; give --carrier DIR")
        #expect(
            message("export", "--carrier", "/c", "a.b", machine: "").contains(
                "this machine's name '' is no host's name"))
        #expect(
            message("export", "--carrier", "/c", "--host", "A", "a.b").contains("'A' is no host's name for mirrors"))
        #expect(message("export", "--carrier", "/c", "--interface", "x", "a.b").contains("is no interface's name"))
        #expect(message("export", "--carrier", "/c", "org.eventrelay.Mirror1.a.b.c").contains("is a mirror"))
        #expect(message("policy", "--user", "a b").contains("'a b' is no user's name"))
        #expect(message("export", "--carrier", "/c", "--session", "--system", "a.b").contains("two buses are named"))
    }
    @Test(
        "help and policy are texts", arguments: [["--help"], ["export", "--help"], ["mirror", "--help"], ["policy"]])
    func texts(arguments: [String]) throws {
        guard case .print(let text) = try BridgeOptions.parse(arguments, machine: "kitchen") else {
            Issue.record("no text")
            return
        }
        #expect(!text.isEmpty)
        if arguments == ["policy"] {
            #expect(text.contains("<policy user=\"relay-mirror\">\n    <allow own_prefix=\"org.eventrelay.Mirror1\"/>"))
        }
    }
}
