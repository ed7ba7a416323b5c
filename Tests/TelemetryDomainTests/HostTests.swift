import Telemetry
import Testing

@testable import TelemetryDomain

@Suite("The host, as a document") struct HostTests {
    @Test("it says what this host is like, and the same again while nothing changes") func present() {
        let host = Host.present
        #expect(host.system == "Linux" && !host.name.isEmpty && !host.release.isEmpty && !host.machine.isEmpty)
        #expect(host.processors > 0 && host.memory > 1 << 20 && host.links.contains("lo"))
        #expect(Host.present == host)
    }
}
