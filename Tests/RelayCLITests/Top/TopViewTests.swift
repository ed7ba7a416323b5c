import RelayCore
import RelayTool
import TestTraits
import Testing

@testable import relay_cli

@Suite("The picture of top", .computing) struct TopViewTests {
    private func model(ticks: Int = 30, subscribers: [TopStatus.Subscriber]? = nil) -> TopModel {
        var model = TopModel(service: "org.eventrelay.Service1")
        model.follow(EventSelection(names: ["org.eventrelay.Telemetry1": nil, "org.eventrelay.Relocation1": nil]))
        for tick in 0..<ticks {
            var tally = TopTally(sequence: UInt64(tick) * 10_000, lost: tick == 3 ? 12 : 0)
            for (name, count) in [("CPUSampled", 1_000 * UInt64(1 + tick % 8)), ("LoadSampled", 2)] {
                var event = TopTally.Event(count: count)
                for time: UInt64 in [40, 50, 7_000] { event.latency.add(time) }
                tally.events[name] = event
            }
            model.tick(["org.eventrelay.Telemetry1": tally], seconds: 1)
        }
        model.take(
            TopStatus(head: UInt64(max(0, ticks - 1)) * 10_000 + 1_500, subscribers: subscribers),
            of: "org.eventrelay.Telemetry1")
        return model
    }
    private let subscribers = [
        TopStatus.Subscriber(peer: ":1.5", names: ["*"], transport: "ring", sequence: 291_400),
        TopStatus.Subscriber(peer: ":1.7", names: ["CPUSampled", "LoadSampled"], transport: "signal", sequence: 0),
    ]

    @Test("a wide terminal has everything") func wide() {
        let lines = TopView(width: 100, height: 24).lines(model(subscribers: subscribers)).map(\.text)
        #expect(lines[0].hasPrefix("org.eventrelay.Service1  6,002 events/s") && lines[0].hasSuffix("q quits"))
        #expect(lines[0].count == 100)
        #expect(lines[1] == "EVENT                          RATE/S      P50      P99       LAG     LOST")
        #expect(lines[2].hasPrefix("org.eventrelay.Relocation1        0.0        -        -         -        -"))
        #expect(lines[3].hasPrefix("org.eventrelay.Telemetry1       6,002    50 µs   6.9 ms     1,500       12  "))
        #expect(lines[3].hasSuffix("▁▂▃▄▅▆▇█▁▂▃▄▅▆▇█▁▂▃▄▅▆".suffix(10)))
        #expect(lines[4].hasPrefix("  CPUSampled                    6,000 "))
        #expect(
            lines[6...] == [
                "", "SUBSCRIBER  TRANSPORT  LAG  INTERFACE                  EVENTS",
                ":1.5        ring       100  org.eventrelay.Telemetry1  all",
                ":1.7        signal       -  org.eventrelay.Telemetry1  CPUSampled LoadSampled",
            ])
    }
    @Test("no line is wider than the terminal, nor are there more than it has; the rate stays longest") func narrow() {
        let model = model(subscribers: subscribers)
        for width in stride(from: 1, through: 140, by: TestForm.rounds(7, soak: 1)) {
            for height in [1, 2, 5, 40] {
                for isUTF8 in [true, false] {
                    let lines = TopView(width: width, height: height, isUTF8: isUTF8).lines(model).map(\.text)
                    #expect(lines.allSatisfy { $0.count <= width } && lines.count <= height, "\(width) × \(height)")
                    #expect(isUTF8 || lines.allSatisfy { $0.utf8.allSatisfy { 0x20..<0x7F ~= $0 } }, "\(lines)")
                    if width >= 24, height == 40 {
                        #expect(
                            lines.contains { $0.contains("CPUSampled".prefix(8)) && $0.contains("6,000") }, "\(lines)")
                    }
                }
            }
        }
        #expect(TopView(width: 60, height: 5).lines(model).last?.text == "… 6 more lines")
        let half = TopView(width: 50, height: 40).lines(model).map(\.text)
        #expect(half[1].contains("P99") && !half[1].contains("LOST"), "\(half[1])")
    }
    @Test("before anything is known there is a notice, and nothing else; a table has no keys") func notice() {
        var model = TopModel(service: "a.b")
        model.notice = "waiting for a.b"
        let lines = TopView(width: 40, height: 10).lines(model).map(\.text)
        #expect(lines == ["a.b  0.0 events/s" + String(repeating: " ", count: 16) + "q quits", "waiting for a.b"])
        #expect(TopView().lines(model)[0].text == "a.b  0.0 events/s")
        #expect(TopView(width: 40, height: 10, hasKeys: false).lines(model)[0].text == "a.b  0.0 events/s")
    }
    @Test("without a status, or without subscribers in it, that part is left out") func noStatus() {
        #expect(!TopView(width: 80, height: 24).lines(model()).contains { $0.text.contains("SUBSCRIBER") })
        #expect(TopView(width: 80, height: 24).lines(model(subscribers: [])).last?.text.hasPrefix("SUBSCRIBER") == true)
    }
    @Test("what a peer says of itself cannot act on the terminal") func hostile() {
        let evil = TopStatus.Subscriber(peer: "\u{1B}[2J\u{202E}", names: ["\n\u{9B}"], transport: "宽", sequence: 1)
        for line in TopView(width: 80, height: 24).lines(model(subscribers: [evil])) {
            #expect(line.text.unicodeScalars.allSatisfy { $0.isPlainlyVisible && $0.value != 0x5BBD }, "\(line.text)")
        }
    }
    @Test("for programs there is an object a line") func json() {
        var output = ByteBuffer()
        TopJSON.append(model(ticks: 4, subscribers: subscribers), to: &output)
        #expect(
            output.text.split(separator: "\n") == [
                #"{"interface":"org.eventrelay.Relocation1","rate":0.0,"p50":null,"p99":null,"lag":null,"lost":0}"#,
                #"{"interface":"org.eventrelay.Telemetry1","rate":4002.0,"p50":50,"p99":6912,"lag":1500,"lost":12}"#,
                #"{"interface":"org.eventrelay.Telemetry1","event":"CPUSampled","rate":4000.0,"p50":50,"p99":6912}"#,
                #"{"interface":"org.eventrelay.Telemetry1","event":"LoadSampled","rate":2.0,"p50":50,"p99":6912}"#,
                #"{"subscriber":":1.5","interface":"org.eventrelay.Telemetry1","transport":"ring","sequence":291400,"events":["*"]}"#,
                #"{"subscriber":":1.7","interface":"org.eventrelay.Telemetry1","transport":"signal","sequence":null,"events":["CPUSampled","LoadSampled"]}"#,
            ])
    }
    @Test(
        "a locale's name tells whether its texts are UTF-8",
        arguments: [
            (["LANG": "de_DE.UTF-8"], true), (["LANG": "C.utf8"], true), (["LANG": "de_DE@euro"], false), ([:], false),
            (["LANG": "de_DE.UTF-8", "LC_ALL": "C"], false),
            (["LANG": "C", "LC_CTYPE": "C.UTF-8", "LC_ALL": ""], true),
            (["LANG": "de_DE.ISO-8859-15@euro"], false), (["LANG": "ca_ES.UTF-8@valencia"], true),
        ] as [([String: String], Bool)])
    func locales(_ environment: [String: String], _ isUTF8: Bool) {
        #expect(OutputStyle.isUTF8(environment) == isUTF8)
    }
}

@Suite("What top does") struct TopMachineTests {
    private func machine(_ events: [String] = [], waits: Bool = true) -> TopMachine {
        var machine = TopMachine(events: events, service: "a.b", waits: waits)
        let first = machine.start()
        #expect(first == [.discover])
        return machine
    }
    private let gone = CLIFailure(.unavailable, "gone")

    @Test("a service is asked what it is, followed, and asked again when it comes back") func life() throws {
        var machine = machine()
        let all = EventSelection(names: ["org.eventrelay.Relocation1": nil])
        let found = machine.take(.discovered(.found(try Samples.catalogue())))
        #expect(found == [.follow(all)] && !machine.isFollowing && machine.model.notice == nil)
        _ = machine.take(.following)
        #expect(machine.isFollowing)
        let again = machine.take(.state(.active))
        #expect(again.isEmpty)
        _ = machine.take(.state(.interrupted))
        #expect(!machine.isFollowing && machine.model.notice == "a.b went away; waiting for it")
        let back = machine.take(.state(.active))
        let twice = machine.take(.state(.active))
        #expect(back == [.discover] && twice.isEmpty)
        let failed = machine.take(.discovered(.failed(gone)))
        #expect(failed.isEmpty && machine.model.notice == "gone")
        let end = machine.take(.state(.invalidated(gone)))
        #expect(end == [.end(gone)])
    }
    @Test("one that is not there is waited for, unless it was asked not to") func absent() throws {
        var patient = machine()
        let waiting = patient.take(.discovered(.absent))
        #expect(waiting.isEmpty && patient.model.notice == "waiting for a.b")
        var hasty = machine(waits: false)
        let end = hasty.take(.discovered(.absent))
        guard case .end(let failure?)? = end.first else { return #expect(Bool(false), "\(end)") }
        #expect(failure.code == .unavailable)
    }
    @Test("an event that there is not is a usage error, a service that cannot be understood its failure")
    func refusals() throws {
        var machine = machine(["Nope"])
        let end = machine.take(.discovered(.found(try Samples.catalogue())))
        guard case .end(let failure?)? = end.first else { return #expect(Bool(false), "\(end)") }
        #expect(failure.code == .usage)
        var other = self.machine()
        let failed = other.take(.discovered(.failed(gone)))
        #expect(failed == [.end(gone)])
    }
}
