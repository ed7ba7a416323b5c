import Glibc
import RelayTestKit
import TestTraits
import Testing

@testable import RelayBus

/// The reasons are those that every other connection gets.
@Suite("A monitor that a bus does not let in", .heavy, .tags(.g8)) struct MonitorRefusalTests {
    private func refusal(_ bus: PrivateBus) throws -> RelayError {
        try #require(
            throws: RelayError.self,
            performing: {
                _ = try BusMonitor(.address(bus.address), rules: ["type='signal'"], timeout: .seconds(300))
            })
    }

    @Test("reports that the bus has no room for its user") func full() throws {
        let bus = try PrivateBus(limits: .builtIn, policy: #"<limit name="max_connections_per_user">0</limit>"#)
        let error = try refusal(bus)
        #expect(error.code == .unavailable)
        #expect(
            error.message.hasPrefix("the bus at \(bus.address) has no room for user \(geteuid()): Hello: ")
                && error.message.hasSuffix("; close other connections, or raise its limits"), "\(error.message)")
    }
    @Test("reports that the bus does not let its user in") func stranger() throws {
        let bus = try PrivateBus(
            limits: .session, policy: #"<policy context="mandatory"><deny user="*"/></policy>"#)
        let error = try refusal(bus)
        #expect(
            error.message.hasPrefix("the bus at \(bus.address) does not let user \(geteuid()) in: "), "\(error.message)"
        )
    }
}
