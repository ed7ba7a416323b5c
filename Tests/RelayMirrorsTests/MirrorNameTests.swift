import Testing

@testable import RelayCore
import RelayWire

@Suite("The names of mirrors") struct MirrorNameTests {
    @Test("a mirror's name names the host and the service, and reads back") func names() throws {
        for (service, host) in [
            ("org.example.Printer", "kitchen"), ("a.b", "_3rd-floor"),
            ("org.example.Printer", String(repeating: "h", count: 63)),
        ] {
            let name = try MirrorName(of: service, at: host)
            #expect(name.description == "org.eventrelay.Mirror1.\(host).\(service)")
            #expect(BusNames.isWellKnownName(name.description) && MirrorName(name.description) == name)
        }
    }
    @Test(
        "a host's name that does not fit is refused",
        arguments: ["", "Kitchen", "3rd", "-a", "a.b", "kü", "a b", "a/b", String(repeating: "h", count: 64)])
    func hosts(_ host: String) {
        let error = #expect(throws: RelayError.self) { try MirrorName(of: "org.example.Printer", at: host) }
        #expect(error?.code == .invalidArgument)
        #expect(MirrorName("org.eventrelay.Mirror1.\(host).org.example.Printer")?.host != host)
    }
    @Test("so is a service's name that is none, a mirror's, or too long") func services() throws {
        for service in ["", "Printer", ":1.42", "org..x", "org.eventrelay.Mirror1.kitchen.a.b"] {
            #expect(throws: RelayError.self) { try MirrorName(of: service, at: "kitchen") }
        }
        let part = String(repeating: "p", count: 222)
        #expect(try MirrorName(of: "a.\(part)", at: "kitchen").description.utf8.count == 255)
        let error = #expect(throws: RelayError.self) { try MirrorName(of: "a.\(part)p", at: "kitchen") }
        #expect(error?.message.contains("256 bytes") == true)
    }
    @Test("what is no mirror's name is none")
    func others() {
        for name in [
            "org.eventrelay.Mirror1", "org.eventrelay.Mirror1.kitchen", "org.eventrelay.Mirror1.kitchen.Printer",
            "org.eventrelay.Mirror2.kitchen.a.b", "org.example.Printer",
        ] { #expect(MirrorName(name) == nil, "\(name)") }
    }
    @Test("a host is called as its machine, where that fits") func machines() {
        let hosts = ["kitchen.example.org", "Kitchen", "3rd-floor", "", "-x", "küche"].map(MirrorName.host(ofMachine:))
        #expect(hosts == ["kitchen", "kitchen", "_3rd-floor", nil, nil, nil])
    }
}
