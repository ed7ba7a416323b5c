import Glibc
import RelayCore
import RelayTestKit
import TestSupport
import TestTraits
import Testing

/// A late subscriber, and a long past.
@Suite("A late subscriber and a long journal", .serialized, .heavy, .tags(.g2, .g3)) struct ReplayTests {
    @Test(
        "a late subscriber reads all of a long past while the service goes on publishing, and neither process grows by 32 MiB"
    )
    func lateSubscriber() async throws {
        let past = Endurance.count(200_000, soak: 1_000_000)
        let live = 10_000
        try await Site.with { site in
            func serve() async throws -> RunningProgram {
                try await site.startFaultyService("--serve", "ledger", "--synchronous", "normal")
            }
            func subscriber() -> Watcher {
                Watcher(site, program: Programs.faultyWatcher) {
                    ["--bus", site.address, "--from", "beginning", "--every", "10000"]
                }
            }
            let text = "Kitchen, second shelf, behind the flour"
            let writer = try await serve()
            let relay = try site.relay(Ledger1.self)
            relay.activate()
            _ = try await site.ask(relay, Ledger1.Write(count: 10_000, text: text))
            // What a subscriber and a service hold when there is little to read.
            let early = subscriber()
            try early.start()
            #expect(await eventually { early.position == 10_000 })
            let subscriberBefore = try Memory(of: early.program?.processID).present
            await early.kill()
            let units = (past - 10_000) / 1_000
            _ = try await relay.call(
                Ledger1.Write(first: 10_001, count: 1_000, units: Int64(units), text: text), timeout: .seconds(600))
            writer.signal(SIGKILL)
            _ = await writer.outcome()

            let service = try await serve()
            _ = try await site.ask(relay, Ledger1.Ping())
            let serviceBefore = try Memory(of: service.processID).present
            let late = subscriber()
            let start = ContinuousClock.now
            try late.start()
            // Single events, while it reads.
            for number in 1...10 {
                _ = try await site.ask(
                    relay,
                    Ledger1.Write(first: Int64(past + (number - 1) * 1_000 + 1), count: 10, units: 100, text: text))
            }
            let total = UInt64(past + live)
            #expect(await eventually(within: .seconds(300)) { late.position == total }, "\(late.position) of \(total)")
            let took = ContinuousClock.now - start
            let subscriberGrowth = try Memory(of: late.program?.processID).highest - subscriberBefore
            let serviceGrowth = try Memory(of: service.processID).highest - serviceBefore
            #expect(subscriberGrowth < 32 << 20 && serviceGrowth < 32 << 20, "\(subscriberGrowth), \(serviceGrowth)")
            // It checks by itself that each follows the one before; it shows each ten thousandth.
            let expected = stride(from: 10_000, through: total, by: 10_000).map(Optional.init)
            #expect(late.account.runs.last?.map(\.sequence) == expected)
            relay.invalidate()
            print(
                "late subscriber: \(total) events in \(took); the subscriber grew by \(subscriberGrowth >> 10) KiB,",
                "the service by \(serviceGrowth >> 10) KiB")
        }
    }
}
