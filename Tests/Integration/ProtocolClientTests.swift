import Glibc
import RelayTestKit
import TestTraits
import Testing

/// docs/PROTOCOL.md and docs/RING.md are enough to write a client from: two that were, in Python.
@Suite("Clients written from the pages alone", .heavy, .tags(.g2, .g6)) struct ProtocolClientTests {
    private func client(_ name: String, _ service: LiveService) throws -> RunningProgram {
        try RunningProgram("/usr/bin/python3", ["\(Programs.sources)/\(name)", service.address])
    }

    @Test("one that follows signals has every event once and in order, though the service is killed again and again")
    func stream() async throws {
        let service = try await LiveService.start()
        let client = try client("stream_client.py", service)
        for round in 1...4 {
            for number in 1...6 { #expect(try await service.orderBox("Box \(round) \(number)").code == 0) }
            // Those under way may be committed or not, and sent or not.
            async let first = service.orderBox("late")
            async let second = service.orderBox("later")
            service.program.signal(SIGKILL)
            _ = await service.program.outcome()
            _ = try await (first, second)
            try await service.restart()
        }
        let status = try await service.run(
            "busctl",
            ["--address=\(service.address)", "get-property", LiveService.name, LiveService.object]
                + ["org.eventrelay.Stream1", "Sequence"])
        let last = try #require(status.output.first?.split(separator: " ").last.flatMap { Int($0) })
        #expect(last >= 24)
        #expect(await eventually { client.output.count >= last })
        #expect(client.output == (1...last).map { "event \($0) BoxProvisioned" })
        _ = await client.terminate()
    }

    @Test("one that reads the ring has every record, byte for byte, and its end")
    func ring() async throws {
        let service = try await LiveService.start()
        #expect(try await service.orderBox("Before").code == 0)
        let client = try client("ring_client.py", service)
        try await client.line(containing: "ready")
        #expect(try await service.orderBox("Kitchen", 10).code == 0)
        #expect(try await service.orderBox("Hall", 5).code == 0)
        service.program.signal(SIGTERM)
        _ = await service.program.outcome()
        let outcome = await client.outcome()
        #expect(outcome.code == 0, "\(outcome)")
        // The number, the capacity, and the title behind its length.
        let kitchen = "0200000000000000" + "0a000000" + "07000000" + "4b69746368656e00"
        let hall = "0300000000000000" + "05000000" + "04000000" + "48616c6c00"
        #expect(
            outcome.output == [
                "ready", "record 2 BoxProvisioned \(kitchen)", "record 3 BoxProvisioned \(hall)", "end",
            ])
    }
}
