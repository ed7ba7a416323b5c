import RelayCore
import RelayTool
import TestTraits
import Testing

@testable import relay_cli

@Suite("Services of other hosts") struct HostTests {
    private static let printer = "org.example.Printer"
    /// The program on a bus that has these mirrors, and a service.
    private func tool(_ mirrors: [(host: String, service: String)]) -> Tool {
        let names = mirrors.map { "\(MirrorName.prefix).\($0.host).\($0.service)" } + [Self.printer]
        let peer = FakePeer { call throws(RelayError) in
            if call.member == "ListNames" { return FakePeer.names(names) }
            if call.member == "ListActivatableNames" { return FakePeer.names([]) }
            throw FakePeer.refusal("UnknownObject", "no such object", calling: call)
        }
        return Tool.tested(output: -1, Notes(), peer: peer) {
            (_, _, _, _, _) throws(CLIFailure) in throw CLIFailure(.software, "not to be asked")
        }
    }
    private func mirror(
        _ tool: Tool, of service: String?, at host: String
    ) -> Result<String, CLIFailure> {
        let options = GlobalOptions(service: service ?? ServiceFinder.standard)
        return Result { () throws(CLIFailure) in try tool.mirror(of: service, at: host, options) }
    }

    @Test("a host and a service name the mirror; a host alone does if it has one") func names() throws {
        let tool = tool([("kitchen", Self.printer), ("hall", Self.printer), ("hall", "org.example.Shop")])
        let kitchen = "org.eventrelay.Mirror1.kitchen.org.example.Printer"
        #expect(try mirror(tool, of: Self.printer, at: "kitchen").get() == kitchen)
        #expect(try mirror(tool, of: nil, at: "kitchen").get() == kitchen)
        // One that is waited for need not be there.
        #expect(try mirror(tool, of: Self.printer, at: "attic").get().contains(".attic."))
        func message(_ service: String?, _ host: String) -> (ExitCode, String)? {
            if case .failure(let failure) = mirror(tool, of: service, at: host) {
                (failure.code, failure.message)
            } else {
                nil
            }
        }
        let absent = try #require(message(nil, "attic"))
        #expect(absent.0 == .unavailable && absent.1.contains("there is no mirror of the host 'attic' on "))
        #expect(absent.1.contains("; there are mirrors of hall and kitchen; "))
        let several = try #require(message(nil, "hall"))
        #expect(several.0 == .usage && several.1.contains("the host 'hall' has several mirrors: "))
        #expect(several.1.contains("org.example.Printer and org.example.Shop; name one with --service NAME"))
        #expect(message(kitchen, "hall")?.0 == .usage)
    }
    @Test("a mirror is meant only where its host is named") func choice() throws {
        let services = try ServiceFinder(peer: tool([("kitchen", Self.printer)]).openPeer(.session, .seconds(1))) {
            _ in "[D-BUS Service]\nX-Relay=true\n"
        }
        #expect(try services.mirrors(within: .seconds(1)).map(\.host) == ["kitchen"])
        let found = [
            FoundService(name: Self.printer, isRunning: true),
            FoundService(name: "\(MirrorName.prefix).kitchen.\(Self.printer)", isRunning: true, isSecondary: true),
        ]
        #expect(try ServiceFinder.choice(of: found) == Self.printer)
    }
    @Test("hosts' names are checked, and '*' stands for all") func options() throws {
        func host(_ text: String) -> HostChoice? { try? ValueKind<HostChoice>.host.read(text) }
        #expect(host("kitchen") == .one("kitchen") && host("*") == .all)
        #expect(host("Kitchen") == nil && host("a.b") == nil && host("") == nil)
        do throws(Unfit) { _ = try ValueKind<HostChoice>.host.read("Kitchen") } catch {
            #expect(error.reason == "is no host's name for mirrors; one looks like kitchen, and '*' stands for all")
        }
    }
    @Test("what is typed for all hosts is passed on without the host") func arguments() {
        #expect(HostFan.withoutHost(["--host", "*", "watch", "-s", "a.b"]) == ["watch", "-s", "a.b"])
        #expect(HostFan.withoutHost(["watch", "--host=*", "--", "--host"]) == ["watch", "--", "--host"])
    }
}
