import RelayCore
import RelayTestKit
import TestTraits
import Testing

@testable import RelayMirrors
import RelayWire

@Suite("All runs of a journal, page by page", .heavy, .tags(.g6)) struct RunPagesTests {
    private let press: ExportedPress
    init() throws { press = try ExportedPress([Press1.self, Lamp1.self]) }

    private func ask(
        _ connection: OriginConnection, after epoch: UInt64, limit: UInt32, of interface: String = Press1.name
    ) async throws(RelayError) -> [StreamRun] {
        try await connection.ask(
            "Runs", at: Stream1.path(of: interface), Stream1.runsSignature, returning: Stream1.runPageSignature
        ) { body in
            body.uint64(epoch)
            body.uint32(limit)
        } _: { reader in
            try Stream1.readRuns(&reader)
        }
    }
    @Test("who attaches again goes on with the ring, also where the origin had ended it") func ringAgain() async throws
    {
        let loop = try BusLoop(name: "rings")
        try await press.restart()
        let connection = try await OriginConnection.open(
            press.bus.bus, on: loop, service: ExportedPress.service, interface: Press1.name, Bell(), ExporterTiming())
        var last: UInt64 = 0
        for round in 0..<4 {
            // With each round the former attachment is released.
            let origin = try await Origin(connection, Press1.name)
            #expect(!origin.isCutOff)
            _ = connection.live(after: last)
            try await press.print(1)
            last = try await press.history(of: Press1.name).head
            let expected = last
            #expect(await eventually { connection.liveHead == expected })
            if case .nothing = connection.live(after: last - 1) { Issue.record("no event in round \(round)") }
            let transports = await press.transports(of: Press1.name)
            #expect(transports["ring"]?.subscribers == 1 && transports["signal"]?.subscribers == 0, "\(transports)")
            // As an origin that has ended its ring, or one whose reader has given up.
            if round == 1 || round == 2, case .present(let ring) = connection.ringState {
                connection.endRing(ring.number, isDamaged: false)
                #expect(origin.isCutOff)
            }
        }
        // The exporter gives a damaged ring back, and the origin sends signals.
        guard case .present(let ring) = connection.ringState else {
            Issue.record("no ring")
            return
        }
        connection.endRing(ring.number, isDamaged: true)
        let origin = try await Origin(connection, Press1.name)
        #expect(!origin.isCutOff)
        #expect(await eventually { await press.transports(of: Press1.name)["ring"]?.subscribers ?? 0 == 0 })
        _ = connection.live(after: last)
        try await press.print(1)
        last = try await press.history(of: Press1.name).head
        let expected = last
        #expect(await eventually { connection.liveHead == expected })
        loop.stop()
    }
    @Test("every run comes once, oldest first, also those without events, however small the pages are")
    func pages() async throws {
        let loop = try BusLoop(name: "runs")
        // The sixth and the seventh begin where the fifth does.
        for run in 1...7 {
            try await press.restart()
            if run < 5 { try await press.print(run) }
        }
        let connection = try await OriginConnection.open(
            press.bus.bus, on: loop, service: ExportedPress.service, interface: nil, Bell(), ExporterTiming())
        let all = try await ask(connection, after: 0, limit: 0)
        #expect(all.count == 7 && Set(all.map(\.epoch)).count == 7)
        let firsts = all.map(\.first)
        #expect(firsts == firsts.sorted() && firsts[0] == 1 && firsts[4] == firsts[6])
        let origin = try await Origin(connection, Press1.name)
        #expect(origin.runs == all && all.last?.epoch == origin.epoch && origin.journal == all.first?.epoch)
        for limit in 1...8 as ClosedRange<UInt32> {
            var runs: [StreamRun] = []
            while case let page = try await ask(connection, after: runs.last?.epoch ?? 0, limit: limit), !page.isEmpty {
                #expect(page.count <= Int(limit))
                runs += page
            }
            #expect(runs == all, "\(limit)")
        }
        let unknown = await #expect(throws: RelayError.self) { try await ask(connection, after: 4_711, limit: 0) }
        #expect(unknown?.code == .notFound && unknown?.message.contains("begin again") == true)
        let volatile = await #expect(throws: RelayError.self) {
            try await ask(connection, after: 0, limit: 0, of: Lamp1.name)
        }
        #expect(volatile?.code == .notFound)
        loop.stop()
    }
}
