import RelayTestKit
import TestTraits
import Testing

/// docs/MAIN_LOOPS.md: each of its programs, in a process of its own.
@Suite("Foreign main loops", .heavy, .tags(.g1, .g6)) struct MainLoopTests {
    @Test(
        "a subscriber, a command and a document's view run on the loop's own thread, over a restart of the service",
        arguments: ["poll", "glib", "glib-target", "run-loop", "dispatch-main"])
    func loop(_ kind: String) async throws {
        let service = try await LiveService.start(domain: "inventory")
        let program = try RunningProgram(
            Programs.folder + "/main-loops", ["--loop", kind, "--bus", service.address],
            environment: Programs.environment())
        try await program.line(containing: "ordered 1")
        try await program.line(containing: "event Kitchen")
        try await program.line(containing: "document Kitchen")
        _ = try await service.orderBox("Hall")
        try await program.line(containing: "event Hall")
        try await program.line(containing: "document Kitchen, Hall")
        #expect(await service.program.terminate().code == 0)
        try await service.restart()
        _ = try await service.orderBox("Attic")
        try await program.line(containing: "event Attic")
        try await program.line(containing: "document Kitchen, Hall, Attic")
        let outcome = await program.terminate()
        #expect(outcome.errors.isEmpty, "\(outcome)")

        let reports = outcome.output.map { $0.split(separator: " @ ").map(String.init) }
        try #require(reports.allSatisfy { $0.count == 2 }, "\(outcome)")
        // The thread of the loop reports first; what dispatchMain leaves behind has a queue only.
        let home = kind == "dispatch-main" ? "main queue" : try #require(reports.first?.last)
        #expect(reports.dropFirst().allSatisfy { $0[1] == home }, "\(outcome)")
        let texts = reports.map { $0[0] }
        #expect(texts.filter { $0.hasPrefix("event") } == ["event Kitchen", "event Hall", "event Attic"])
        let documents = texts.filter { $0.hasPrefix("document") }
        #expect(documents.last == "document Kitchen, Hall, Attic" && Set(documents).count == documents.count)
        if kind.hasPrefix("glib") { #expect(texts.contains("pressed")) }
    }
}
