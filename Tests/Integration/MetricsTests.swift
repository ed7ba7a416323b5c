import Glibc
import RelayCore
import RelayTestKit
import TestTraits
import Testing

/// `relay-cli metrics` and the completions, against a service that runs.
@Suite("metrics and completions of a live service", .heavy, .tags(.g2, .g3)) struct MetricsTests {
    private func value(_ outcome: RunningProgram.Outcome, _ sample: String) -> Double? {
        let line = outcome.output.first { $0.hasPrefix(sample + " ") }
        return line?.split(separator: " ").last.flatMap { Double($0) }
    }

    @Test(
        "what the service counts is in the text: events by transport, commands with their durations, refusals, the journal"
    )
    func counts() async throws {
        let service = try await LiveService.start()
        for number in 1...3 { _ = try await service.orderBox("Box \(number)") }
        let refused = try await service.runCLI("call", "OrderBox", "label=", "capacity=10")
        #expect(refused.code != 0, "a label that the type or the rule refuses: \(refused)")
        let outcome = try await service.runCLI("metrics")
        #expect(outcome.code == 0 && outcome.errors.isEmpty, "\(outcome)")
        #expect(outcome.output.last == "# EOF")
        let of = #"service="org.eventrelay.Service1""#
        let at = of + #",interface="org.eventrelay.Relocation1""#
        let events = try #require(value(outcome, "relay_events_total{\(at)}"))
        #expect(events >= 3)
        #expect(value(outcome, "relay_journal_events{\(at)}") == events)
        #expect(value(outcome, #"relay_transport_events_total{\#(at),outcome="carried",transport="signal"}"#) == events)
        #expect(value(outcome, #"relay_transport_events_total{\#(at),outcome="held_back",transport="signal"}"#) == 0)
        let replied = try #require(value(outcome, #"relay_commands_total{\#(of),outcome="replied"}"#))
        let failed = try #require(value(outcome, #"relay_commands_total{\#(of),outcome="failed"}"#))
        let unreadable = try #require(value(outcome, #"relay_commands_total{\#(of),outcome="unreadable"}"#))
        #expect(replied >= 3 && failed + unreadable >= 1)
        #expect(value(outcome, "relay_command_duration_seconds_count{\(of)}").map { $0 >= replied } == true)
        #expect(value(outcome, #"relay_dropped_calls_total{\#(of),reason="bus_is_full"}"#) == 0)
        #expect(value(outcome, #"relay_dropped_calls_total{\#(of),reason="replies_unread"}"#) == 0)
        #expect(value(outcome, "relay_dropped_progress_total{\(of)}") == 0)
        #expect(value(outcome, "relay_outgoing_bytes{\(of)}") == 0)
        #expect(value(outcome, "relay_journal_file_bytes{\(of)}").map { $0 > 0 } == true)

        let folder = try TestFolder()
        let file = try await service.runCLI("metrics", "--textfile", folder.path + "/relay.prom")
        #expect(file.code == 0 && file.output.isEmpty && file.errors.isEmpty, "\(file)")
        let shown = try await RunningProgram.run("cat", [folder.path + "/relay.prom"])
        #expect(shown.output.first == "# TYPE relay_service_info gauge")
    }

    @Test("without a service both end at once, and start none")
    func absent() async throws {
        let bus = try PrivateBus()
        let metrics = try await RunningProgram.run(
            Programs.cli, ["--bus", bus.address, "metrics"], environment: Programs.environment())
        #expect(metrics.code == 69 && metrics.output.isEmpty, "\(metrics)")
        let names = try await RunningProgram.run(
            Programs.cli, ["--bus", bus.address, "completion", "--names", "events"], environment: Programs.environment()
        )
        #expect(names.code == 69 && names.output.isEmpty, "\(names)")
    }

    @Test("completions get the names of events, commands, documents and their fields")
    func names() async throws {
        let service = try await LiveService.start(domain: "relocation,inventory")
        // On a busy machine an answer may come later than somebody with a finger on the tab key waits.
        func names(_ arguments: String...) async throws -> [String] {
            for _ in 0..<1_000 {
                let outcome = try await RunningProgram.run(
                    Programs.cli, ["--bus", service.address, "completion", "--names"] + arguments,
                    environment: Programs.environment())
                if outcome.code == 75 { continue }
                #expect(outcome.code == 0, "\(outcome)")
                return outcome.output
            }
            return []
        }
        #expect(try await names("events").contains("BoxProvisioned"))
        #expect(try await names("commands").contains("OrderBox"))
        #expect(try await names("documents") == ["Inventory"])
        #expect(try await names("fields", "OrderBox") == ["label=", "capacity="])
    }

    @Test("watch shows what an expression asks for, of signals, the ring and the journal; tail begins earlier")
    func filtered() async throws {
        let service = try await LiveService.start()
        for label in ["Kitchen", "Hall"] { _ = try await service.orderBox(label) }
        let watch = try service.cli(
            "watch", "BoxProvisioned", "--where", "title ~ '^K' && capacity >= 10", "--format", "{sequence} {title}",
            "--count", "2")
        try await watch.line(containing: "watching")
        for label in ["Attic", "Kiosk", "Kitchenette"] { _ = try await service.orderBox(label) }
        #expect(await watch.outcome().output == ["4 Kiosk", "5 Kitchenette"])
        let tail = try await service.runCLI(
            "tail", "BoxProvisioned", "--where", "title ~ '^K'", "--format", "{sequence} {title}", "--count", "3")
        #expect(tail.code == 0 && tail.output == ["1 Kitchen", "4 Kiosk", "5 Kitchenette"], "\(tail)")
        let history = try await service.runCLI("history", "--where", "title contains 'l'", "--fields", "title")
        #expect(
            history.output.count == 1 && history.output[0].hasSuffix("#2 BoxProvisioned title=\"Hall\""), "\(history)")
        let wrong = try await service.runCLI("history", "--where", "titel == 'Hall'")
        #expect(wrong.code == 64)
        #expect(
            wrong.errors == [
                "relay-cli: option '--where', column 1: none of these events has a field 'titel'; did you mean 'title'?",
                "relay-cli:   titel == 'Hall'", "relay-cli:   ^",
            ])
    }
}
