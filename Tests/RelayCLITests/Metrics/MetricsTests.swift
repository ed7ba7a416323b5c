import Glibc
import RelayCore
import RelayTestKit
import RelayTool
import Synchronization
import TestTraits
import Testing

@testable import relay_cli
import RelayWire

@Suite("metrics", .tags(.g8))
struct MetricsTests {
    typealias Figure = (name: String, labels: [(String, String)], value: UInt64)
    static let ofInterface: [Figure] = [
        ("events", [], 17), ("head", [], 40), ("signals_paused", [], 0), ("signal_pauses", [], 2),
        ("refused_calls", [("reason", "not_permitted")], 3), ("refused_calls", [("reason", "limits_exceeded")], 4),
        ("oldest", [], 5), ("transport_events", [("transport", "ring"), ("outcome", "carried")], 12),
        ("transport_events", [("transport", "ring"), ("outcome", "too_large")], 1),
        ("subscribers", [("transport", "ring")], 2), ("subscriber_lag", [("transport", "ring")], 7),
        ("rings", [("outcome", "opened")], 9), ("brand_new", [("kind", "a\"b\\c\nd")], .max),
    ]
    static let ofService: [Figure] = [
        ("commands", [("outcome", "replied")], 30), ("command_duration", [("microseconds", "100")], 10),
        ("command_duration", [("microseconds", "3000")], 25), ("command_duration", [("microseconds", "")], 30),
        ("command_duration_sum", [], 1_234_567), ("waiting_commands", [], 1), ("outgoing_bytes", [], 0),
        ("dropped_calls", [("reason", "bus_is_full")], 0), ("dropped_progress", [], 6),
        ("notices", [("kind", "NotPermitted")], 3),
    ]
    static func status(
        _ own: [Figure] = ofInterface, _ service: [Figure] = ofService, version: String? = nil
    ) throws -> [UInt8] {
        func value(_ figures: [Figure]) -> DBusValue {
            let labels = DBusType.dictionary(.string, .string)
            return .array(
                .structure([.string, labels, .uint64]),
                figures.map { figure in
                    .structure([
                        .string(figure.name),
                        .dictionary(labels, figure.labels.map { .init(key: .string($0.0), value: .string($0.1)) }),
                        .uint64(figure.value),
                    ])
                })
        }
        let entries: [(String, DBusValue)] =
            (version.map { [("Version", .string($0))] } ?? []) + [
                ("Epoch", .uint64(9)), ("Durability", .string("durable")), ("Events", .uint64(36)),
                ("Bytes", .uint64(3_600)),
                ("FileBytes", .uint64(65_536)), ("WalBytes", .uint64(0)), ("Checked", .uint64(1)),
                ("Odd", .boolean(true)),
                ("Figures", value(own)), ("ServiceFigures", value(service)),
            ]
        return try Samples.body { writer in
            try writer.value(
                .dictionary(
                    .dictionary(.string, .variant),
                    entries.map { .init(key: .string($0.0), value: .variant($0.1)) }),
                as: .dictionary(.string, .variant))
        }
    }
    private func run(_ arguments: [String], status: [UInt8], events: [Envelope] = []) async throws -> HistoryRun {
        let file = try #require(tmpfile())
        defer { fclose(file) }
        let (output, notes) = (fileno(file), Notes())
        let code = await WaitingThread.run {
            let service = FakeService { call in
                guard call.member == "Status" else { throw CLIFailure(.software, "not expected: \(call.member)") }
                return IncomingReply(signature: "a{sv}", body: status)
            }
            let tool = Tool.tested(output: output, notes) { _, _, _, _, deliver in
                FakeFollowed(service, events: events, deliver: deliver)
            }
            return tool.run(arguments)
        }.value
        var bytes = [UInt8](repeating: 0, count: Int(lseek(output, 0, SEEK_END)))
        #expect(pread(output, &bytes, bytes.count, 0) == bytes.count)
        return HistoryRun(
            code: code, output: String(decoding: bytes, as: UTF8.self), notes: notes.lines.withLock { $0 })
    }

    @Test("the text as a whole keeps the rules of OpenMetrics")
    func whole() async throws {
        let result = try await run(["metrics"], status: try Self.status())
        #expect(result.code == .ok && result.notes.isEmpty)
        #expect(OpenMetricsRules(result.output).faults == [])
        let of = #"service="org.eventrelay.Service1""#
        let at = of + #",interface="org.eventrelay.Relocation1""#
        #expect(
            result.output == #"""
                # TYPE relay_events counter
                # HELP relay_events Events that this run of the service has published.
                relay_events_total{\#(at)} 17
                # TYPE relay_stream_head gauge
                # HELP relay_stream_head The last sequence.
                relay_stream_head{\#(at)} 40
                # TYPE relay_stream_oldest gauge
                # HELP relay_stream_oldest The oldest sequence that can be read.
                relay_stream_oldest{\#(at)} 5
                # TYPE relay_transport_events counter
                # HELP relay_transport_events Events by transport: carried, held back in a pause, or too large for it.
                relay_transport_events_total{\#(at),outcome="carried",transport="ring"} 12
                relay_transport_events_total{\#(at),outcome="too_large",transport="ring"} 1
                # TYPE relay_subscribers gauge
                # HELP relay_subscribers Attached subscribers.
                relay_subscribers{\#(at),transport="ring"} 2
                # TYPE relay_subscriber_lag gauge
                # HELP relay_subscriber_lag Events by which the slowest subscriber lags behind.
                relay_subscriber_lag{\#(at),transport="ring"} 7
                # TYPE relay_signals_paused gauge
                # HELP relay_signals_paused 1 while signals pause.
                relay_signals_paused{\#(at)} 0
                # TYPE relay_signal_pauses counter
                # HELP relay_signal_pauses Pauses of signals.
                relay_signal_pauses_total{\#(at)} 2
                # TYPE relay_rings counter
                # HELP relay_rings Rings that peers asked for: opened, refused, returned.
                relay_rings_total{\#(at),outcome="opened"} 9
                # TYPE relay_refused_calls counter
                # HELP relay_refused_calls Calls of peers that were refused, by the reason.
                relay_refused_calls_total{\#(at),reason="not_permitted"} 3
                relay_refused_calls_total{\#(at),reason="limits_exceeded"} 4
                # TYPE relay_journal_events gauge
                # HELP relay_journal_events Events that the journal keeps.
                relay_journal_events{\#(at)} 36
                # TYPE relay_journal_event_bytes gauge
                # UNIT relay_journal_event_bytes bytes
                # HELP relay_journal_event_bytes What these events take up.
                relay_journal_event_bytes{\#(at)} 3600
                # TYPE relay_journal_file_bytes gauge
                # UNIT relay_journal_file_bytes bytes
                # HELP relay_journal_file_bytes The journal's file with its log.
                relay_journal_file_bytes{\#(of)} 65536
                # TYPE relay_journal_wal_bytes gauge
                # UNIT relay_journal_wal_bytes bytes
                # HELP relay_journal_wal_bytes The journal's log, which is moved into the file now and then.
                relay_journal_wal_bytes{\#(of)} 0
                # TYPE relay_journal_checked gauge
                # HELP relay_journal_checked 1 when the journal's whole file is known to be sound.
                relay_journal_checked{\#(of)} 1
                # TYPE relay_commands counter
                # HELP relay_commands Calls of commands, by how they ended.
                relay_commands_total{\#(of),outcome="replied"} 30
                # TYPE relay_command_duration_seconds histogram
                # UNIT relay_command_duration_seconds seconds
                # HELP relay_command_duration_seconds How long handlers of commands took.
                relay_command_duration_seconds_bucket{\#(of),le="0.0001"} 10
                relay_command_duration_seconds_bucket{\#(of),le="0.003"} 25
                relay_command_duration_seconds_bucket{\#(of),le="+Inf"} 30
                relay_command_duration_seconds_count{\#(of)} 30
                relay_command_duration_seconds_sum{\#(of)} 1.234567
                # TYPE relay_waiting_commands gauge
                # HELP relay_waiting_commands Commands that wait or run now.
                relay_waiting_commands{\#(of)} 1
                # TYPE relay_outgoing_bytes gauge
                # UNIT relay_outgoing_bytes bytes
                # HELP relay_outgoing_bytes What waits in the service for the bus to take it.
                relay_outgoing_bytes{\#(of)} 0
                # TYPE relay_dropped_calls counter
                # HELP relay_dropped_calls Calls that got no answer, by the reason.
                relay_dropped_calls_total{\#(of),reason="bus_is_full"} 0
                # TYPE relay_dropped_progress counter
                # HELP relay_dropped_progress Values of progress that were too large, or that a later one replaced.
                relay_dropped_progress_total{\#(of)} 6
                # TYPE relay_notices counter
                # HELP relay_notices What went wrong while the service ran, by kind; also what was not logged.
                relay_notices_total{\#(of),kind="NotPermitted"} 3
                # TYPE relay_other_brand_new unknown
                # HELP relay_other_brand_new A figure that this relay-cli does not know.
                relay_other_brand_new{\#(at),kind="a\"b\\c\nd"} 18446744073709551615
                # EOF

                """#)
    }

    @Test("with --for, the times that events took are a histogram")
    func latencies() async throws {
        let event = try Samples.boxProvisioned(3, at: 1)
        let result = try await run(["metrics", "--for", "0.01"], status: try Self.status([], []), events: [event])
        let rules = OpenMetricsRules(result.output)
        #expect(result.code == .ok && rules.faults == [])
        #expect(rules.types["relay_event_latency_seconds"] == "histogram" || rules.types.count == 5)
        var histogram = LatencyHistogram()
        for time: UInt64 in [5, 9, 200, 2_000_000, 100_000_000] { histogram.add(time) }
        var families = ServiceMetricFamilies(service: "a.b")
        families.add(histogram, of: "c.d")
        let text = MetricText.text(families.families, .openMetrics)
        #expect(OpenMetricsRules(text).faults == [])
        let counts = OpenMetricsRules(text).samples.filter { $0.name.hasSuffix("_bucket") }.map(\.value)
        #expect(counts == [2, 2, 2, 3, 3, 3, 3, 3, 3, 3, 3, 4, 5])
    }

    @Test("the versions of both sides, from a service that tells its own")
    func versions() async throws {
        let status = try Self.status([], [], version: "1.2 \"x\"")
        let result = try await run(["metrics"], status: status)
        #expect(OpenMetricsRules(result.output).faults == [])
        #expect(
            result.output.hasPrefix(
                #"""
                # TYPE relay_service info
                # HELP relay_service The version of the Relay that the service is built with.
                relay_service_info{service="org.eventrelay.Service1",version="1.2 \"x\""} 1
                # TYPE relay_cli info
                # HELP relay_cli The version of the relay-cli that asked.
                relay_cli_info{version="\#(Version.current)"} 1

                """#))
        let folder = try TestFolder()
        let path = folder.path + "/relay.prom"
        #expect(try await run(["metrics", "--textfile", path], status: status).code == .ok)
        // Its format has no type of that name.
        #expect(try String(contentsOfWhole: path).hasPrefix("# TYPE relay_service_info gauge\n"))
    }

    @Test("in labels nothing acts on a terminal, in both forms; the text stays one by the rules")
    func hostileLabels() async throws {
        let evil = "\u{1B}]0;x\u{7}\r\u{202E}\u{85}\u{7F}\u{F0000}\n\"\\"
        let label = #"\\u001b]0;x\\u0007\\u000d\\u202e\\u0085\\u007f\\udb80\\udc00\n\"\\"#
        let status = try Self.status([("subscribers", [("transport", evil)], 1)], [], version: evil)
        let text = try await run(["metrics"], status: status)
        #expect(text.output.contains(#"transport="\#(label)"} 1"#), "\(text.output)")
        #expect(OpenMetricsRules(text.output).faults == [])
        let folder = try TestFolder()
        let path = folder.path + "/relay.prom"
        #expect(try await run(["metrics", "--textfile", path], status: status).code == .ok)
        for output in [text.output, try String(contentsOfWhole: path)] {
            #expect(output.unicodeScalars.allSatisfy { $0 == "\n" || $0.isPlainlyVisible })
        }
    }

    @Test("a file's unfinished form has a name that nobody can make before: what lies beside it is left alone")
    func unfinishedFile() async throws {
        let folder = try TestFolder()
        let path = folder.path + "/relay.prom"
        try folder.write("mine", to: "other")
        symlink(folder.path + "/other", "\(path).\(getpid())")
        try folder.write("theirs", to: "relay.prom.0")
        for _ in 0..<3 {
            #expect(try await run(["metrics", "--textfile", path], status: try Self.status()).code == .ok)
        }
        #expect(try String(contentsOfWhole: folder.path + "/other") == "mine")
        #expect(folder.names == ["other", "relay.prom", "relay.prom.\(getpid())", "relay.prom.0"].sorted())
    }

    @Test("with --json each sample is an object")
    func json() async throws {
        let result = try await run(["metrics", "--json"], status: try Self.status())
        #expect(result.code == .ok && result.notes.isEmpty)
        #expect(
            result.line(0) == #"{"metric":"relay_events_total","labels":{"service":"org.eventrelay.Service1","#
                + #""interface":"org.eventrelay.Relocation1"},"value":17}"#)
        #expect(result.lines.allSatisfy { (try? JSONParser.parse($0)) != nil })
        #expect(result.lines.contains { $0.contains(#""le":"+Inf"},"value":30}"#) })
    }

    @Test("a file is whole or as it was; in the form that node_exporter reads")
    func file() async throws {
        let folder = try TestFolder()
        let path = folder.path + "/relay.prom"
        let result = try await run(["metrics", "--textfile", path], status: try Self.status())
        #expect(result == HistoryRun(code: .ok, output: "", notes: []))
        let text = try String(contentsOfWhole: path)
        #expect(text.hasPrefix("# TYPE relay_events_total counter\n# HELP relay_events_total Events"))
        #expect(!text.contains("# UNIT") && !text.contains("# EOF") && text.hasSuffix("\n"))
        #expect(text.contains("# TYPE relay_other_brand_new untyped\n"))
        #expect(!text.contains("\u{0}"))
        // Whatever is wrong, the old one stays, and nothing lies beside it.
        let broken = try await run(["metrics", "--textfile", path], status: [1])
        #expect(broken.code == .software)
        #expect(try String(contentsOfWhole: path) == text)
        let nowhere = try await run(["metrics", "--textfile", folder.path + "/none/a.prom"], status: try Self.status())
        #expect(nowhere.code == .cannotCreate && nowhere.notes.count == 1)
        #expect(
            nowhere.notes == [
                "cannot make '\(folder.path)/none/a.prom': No such file or directory; its folder must exist, and let user "
                    + "\(geteuid()) write"
            ])
        mkdir(folder.path + "/dir.prom", 0o700)
        let folderInstead = try await run(
            ["metrics", "--textfile", folder.path + "/dir.prom"], status: try Self.status())
        #expect(
            folderInstead
                == HistoryRun(
                    code: .outputFailed, output: "", notes: ["cannot write '\(folder.path)/dir.prom': Is a directory"]))
    }

    @Test("what a hostile or newer service counts never makes a text that breaks the rules")
    func hostile() async throws {
        var generator = SeededGenerator(seed: 7)
        let names = [
            "events", "rings", "notices", "command_duration", "command_duration_sum", "", "A", "a b", "x", "_y", "le",
        ]
        let labels = ["", "le", "interface", "service", "microseconds", "x", "Ü", "a-b"]
        let values = ["", "1", "100", "\n", "\"", "\\", "+Inf", "ü", "c.d"]
        for round in 0..<TestForm.rounds(300, soak: 20_000) {
            func figures() -> [Figure] {
                (0..<generator.below(8)).map { _ in
                    let own = (0..<generator.below(3)).map { _ in
                        (labels[generator.below(labels.count)], values[generator.below(values.count)])
                    }
                    return (names[generator.below(names.count)], own, UInt64.random(in: 0...9, using: &generator))
                }
            }
            let body = try Self.status(figures(), figures())
            let status = try body.withUnsafeBytes { bytes in
                var reader = WireReader(bytes)
                return try MonitoredStatus.read(&reader)
            }
            var families = ServiceMetricFamilies(service: "a.b")
            families.add(status, of: "c.d")
            // A service may have an interface twice.
            families.add(status, of: round % 2 == 0 ? "c.d" : "c.e")
            let text = MetricText.text(families.families, .openMetrics)
            #expect(OpenMetricsRules(text).faults == [], "\(text)")
        }
    }

    @Test("each sample stands once, whatever a service counts: the first of those that are written alike")
    func onlyOnce() async throws {
        let alike: [Figure] = [
            // A figure of the service as a whole that claims to be an interface's; and labels in another order.
            ("events", [("interface", "c.d"), ("a", "1")], 7),
            ("odd", [("interface", "c.d"), ("a", "1")], 7),
        ]
        let own: [Figure] = [
            ("events", [("a", "1")], 1), ("odd", [("a", "1")], 1),
            // One is a character that nobody sees, the other how it is shown.
            ("rings", [("x", "\u{202E}")], 2), ("rings", [("x", "\\u202e")], 3),
        ]
        let body = try Self.status(own, alike)
        let status = try body.withUnsafeBytes { bytes in
            var reader = WireReader(bytes)
            return try MonitoredStatus.read(&reader)
        }
        var families = ServiceMetricFamilies(service: "a.b")
        for _ in 0..<2 {
            families.add(status, of: "c.d")
            families.add(LatencyHistogram(), of: "c.d")
        }
        let text = MetricText.text(families.families, .openMetrics)
        #expect(OpenMetricsRules(text).faults == [], "\(text)")
        for sample in [
            "relay_events_total{service=\"a.b\",interface=\"c.d\",a=\"1\"} 1",
            "relay_other_odd{service=\"a.b\",interface=\"c.d\",a=\"1\"} 1",
            "relay_rings_total{service=\"a.b\",interface=\"c.d\",x=\"\\\\u202e\"} 2",
        ] {
            #expect(text.contains(sample + "\n"), "\(sample) in \(text)")
        }
        var json = ByteBuffer()
        MetricText.append(json: families.families, to: &json)
        let lines = json.text.split(separator: "\n").map { $0.prefix { $0 != "}" } }
        // Of programs the two values are two.
        #expect(
            Set(lines).count == lines.count && lines.count { $0.contains("relay_rings_total") } == 2, "\(json.text)")
    }
    @Test(
        "the rules find what is wrong",
        arguments: [
            "", "a 1\n# EOF\n", "# TYPE a counter\na 1\n# EOF\n", "# TYPE a gauge\na 1\na 1\n# EOF\n",
            "# TYPE a gauge\na{b=\"\"\"} 1\n# EOF\n", "# TYPE a gauge\n# UNIT a bytes\na 1\n# EOF\n",
            "# TYPE a gauge\na x\n# EOF\n", "# TYPE a histogram\na_bucket{le=\"1\"} 1\na_count 1\na_sum 1\n# EOF\n",
            "# TYPE a gauge\na 1\n# TYPE b gauge\nb 1\n# TYPE a gauge\n# EOF\n", "# TYPE a gauge\na 1\n# EOF\n# EOF\n",
            "# TYPE a counter\na_total -1\n# EOF\n",
        ])
    func rules(_ text: String) { #expect(!OpenMetricsRules(text).faults.isEmpty) }

    @Test("what does not go together")
    func refusals() {
        #expect(
            Line.refusal(["metrics", "--json", "--textfile", "a.prom"])
                == CLIFailure(.usage, "two forms were asked for; give one of --json and --textfile"))
        #expect(
            Line.refusal(["metrics", "--textfile", "/tmp/relay.txt"])
                == CLIFailure(
                    .usage,
                    "option '--textfile': '/tmp/relay.txt' is no file that node_exporter reads; its name ends like "
                        + "relay.prom: with .prom"))
    }
}

extension String {
    fileprivate init(contentsOfWhole path: String) throws {
        let file = try #require(fopen(path, "r"))
        defer { fclose(file) }
        var bytes: [UInt8] = []
        while case let byte = fgetc(file), byte != EOF { bytes.append(UInt8(byte)) }
        self = String(decoding: bytes, as: UTF8.self)
    }
}
