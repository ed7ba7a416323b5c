import Glibc
import RelayCore
import RelayTestKit
import TestSupport
import TestTraits
import Testing

/// What people read over the bus of the check that follows a kill.
@Suite("The status of a journal's check", .heavy, .tags(.g8)) struct CheckStatusTests {
    private func checked(_ site: Site) async throws -> Int {
        let outcome = try await site.run(
            "busctl", "--address=\(site.address)", "call", Site.service, Stream1.path(of: Ledger1.name), Stream1.name,
            "Status")
        return try #require(Site.number("Checked", in: outcome), "\(outcome)")
    }

    @Test("Checked is 0 from a kill until the check that follows it has ended, and 1 then, and after an orderly end")
    func kill() async throws {
        try await Site.with { site in
            let relay = try site.relay(Ledger1.self)
            relay.activate()
            let first = try await site.startFaultyService("--serve", "ledger")
            _ = try await site.ask(relay, Ledger1.Write(count: 10))
            #expect(try await checked(site) == 1)
            first.signal(SIGKILL)
            _ = await first.outcome()

            // Its check waits until it may begin.
            let held = ["--serve", "ledger", "--fault", "checking"]
            let second = try await site.startFaultyService(held)
            _ = try await site.ask(relay, Ledger1.Write(first: 11, count: 10))
            #expect(try await checked(site) == 0)
            try site.arm()
            #expect(try await eventually { try await checked(site) == 1 })
            second.signal(SIGTERM)
            #expect(await second.outcome().code == 0)

            // A check would wait for ever now.
            site.disarm()
            let third = try await site.startFaultyService(held)
            #expect(try await checked(site) == 1)
            relay.invalidate()
            third.signal(SIGTERM)
            #expect(await third.outcome().code == 0)
        }
    }
}
