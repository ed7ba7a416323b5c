import RelayCore
import Testing

@testable import relay_cli
import RelayWire

@Suite("The figures of top") struct TopFiguresTests {
    @Test("times are kept to a sixteenth, whatever their size") func histogram() {
        for value: UInt64 in [0, 1, 15, 16, 17, 31, 32, 33, 999, 1_000_000, 1 << 40, .max / 3, .max] {
            var one = LatencyHistogram()
            one.add(value)
            let found = one.percentile(0.5) ?? .max
            #expect(found <= value && value - found <= value / 16, "\(value) is kept as \(found)")
        }
        var many = LatencyHistogram()
        #expect(many.percentile(0.99) == nil)
        for value: UInt64 in 1...1_000 { many.add(value) }
        #expect((470...500).contains(many.percentile(0.5) ?? 0) && (928...990).contains(many.percentile(0.99) ?? 0))
        #expect(many.percentile(0) == 1 && many.percentile(1) == 992)
        var other = LatencyHistogram()
        other.add(5_000_000)
        many.merge(other)
        #expect(many.total == 1_001 && (many.percentile(1) ?? 0) > 4_600_000)
    }
    @Test("a sparkline's highest is full, its zeros are blank, and what is missing is at the left") func sparkline() {
        #expect(Sparkline.text([0, 1, 4, 8], width: 6, isUTF8: true) == "   ▁▄█")
        #expect(Sparkline.text([0, 1, 4, 8], width: 3, isUTF8: false) == ".=#")
        #expect(Sparkline.text([], width: 2, isUTF8: true) == "  " && Sparkline.text([1], width: 0, isUTF8: true) == "")
        #expect(Sparkline.text([0, 0], width: 2, isUTF8: true) == "  ")
        #expect(Sparkline.text([.infinity, .nan, -1, 1e-300], width: 4, isUTF8: true).count == 4)
    }
    @Test("numbers are short and grouped") func numbers() {
        for (value, text) in [
            (0, "0.0"), (0.25, "0.3"), (9.94, "9.9"), (9.96, "10"), (9_812, "9,812"), (1e300, "1,000,000,000,000,000"),
        ] {
            #expect(TopNumbers.rate(value) == text)
        }
        for (value, text) in [
            (0, "0 µs"), (999, "999 µs"), (1_000, "1.0 ms"), (99_949, "99.9 ms"), (123_456, "123 ms"),
            (1_500_000, "1.5 s"),
            (599_000_000, "599 s"), (600_000_000, "10 min"),
        ] as [(UInt64, String)] {
            #expect(TopNumbers.time(value, isUTF8: true) == text)
        }
        #expect(TopNumbers.time(5, isUTF8: false) == "5 us")
        #expect(TopNumbers.time(.max, isUTF8: true).hasSuffix(" min"))
    }

    @Test("what a service reports as lost adds up to what numbers can have, and no further") func hugeLosses() {
        let counters = TopCounters()
        var model = TopModel(service: "a.B1")
        model.follow(EventSelection(names: ["a.b": nil]))
        for epoch: UInt64 in 1...5 {
            for _ in 0..<3 {
                counters.add(Gap(1...UInt64.max, epoch: epoch, count: .max, reason: .epochChanged), of: "a.b")
            }
            model.tick(counters.take(), seconds: 1)
        }
        #expect(model.interfaces["a.b"]?.lost == .max)
        #expect(TopView().table(model).contains { $0.text.contains("18,446,744,073,709,551,615") })
        #expect(TopNumbers.rate(.nan) == "-" && TopNumbers.rate(.infinity) == "1,000,000,000,000,000")
    }

    @Test("what was published while the program stood still is counted, but says nothing about latency") func resume()
        throws
    {
        let counters = TopCounters()
        let second: UInt64 = 1_000_000
        counters.add(try Samples.boxProvisioned(1, at: 10 * second), now: 10 * second + 100)
        // Those that come when it goes on, before it notices that it did.
        counters.add(try Samples.boxProvisioned(2, at: 20 * second), now: 90 * second)
        counters.resume(now: 90 * second)
        counters.add(try Samples.boxProvisioned(3, at: 30 * second), now: 90 * second + 5)
        counters.add(try Samples.boxProvisioned(4, at: 90 * second), now: 90 * second + 80)
        let event = try #require(counters.take()["org.eventrelay.Relocation1"]?.events["BoxProvisioned"])
        #expect(event.count == 4 && event.latency.total == 1 && event.latency.percentile(0.99) == 80)
    }

    private func tally(_ counts: [String: UInt64], sequence: UInt64, lost: UInt64 = 0) -> TopTally {
        var tally = TopTally(sequence: sequence, lost: lost)
        for (name, count) in counts {
            var event = TopTally.Event(count: count)
            event.latency.add(100)
            tally.events[name] = event
        }
        return tally
    }
    @Test("a tick makes rates of counts, for each event and the whole; an event that stops goes to zero") func ticks()
        throws
    {
        var model = TopModel(service: "a.b")
        model.follow(EventSelection(names: ["a.b": nil, "a.c": ["X"]]))
        model.tick(
            ["a.b": tally(["A": 10, "B": 20], sequence: 30), "other": tally(["Z": 1], sequence: 1)], seconds: 2)
        model.tick(["a.b": tally(["A": 5], sequence: 40, lost: 5)], seconds: 1)
        #expect(model.interfaces.keys.sorted() == ["a.b", "a.c"])
        let one = try #require(model.interfaces["a.b"])
        #expect(one.whole.rates == [15, 5] && one.events["A"]?.rates == [5, 5] && one.events["B"]?.rates == [10, 0])
        #expect(one.lost == 5 && one.whole.latency.total == 3)
        model.take(TopStatus(head: 47), of: "a.b")
        model.take(TopStatus(head: 30), of: "a.c")
        #expect(model.interfaces["a.b"]?.lag == 7)
        #expect(model.interfaces["a.c"]?.lag == nil, "others' events are no delay of this one's")
        model.take(TopStatus(head: 12), of: "a.b")
        #expect(model.interfaces["a.b"]?.lag == 0, "the service began anew")
        model.take(nil, of: "a.b")
        #expect(model.interfaces["a.b"]?.lag == nil)
        for _ in 0..<300 { model.tick([:], seconds: 0) }
        #expect(model.interfaces["a.b"]?.whole.rates.count == TopModel.history)
        #expect(model.interfaces["a.b"]?.whole.latency.total == 0, "old latencies are forgotten")
    }
    @Test("events and gaps are counted as they come") func counters() {
        let counters = TopCounters()
        for sequence: UInt64 in 1...3 {
            guard let event = try? Samples.boxProvisioned(sequence) else { continue }
            counters.add(event, now: event.stamp.publishedAt.microseconds + 50)
        }
        counters.add(Gap(4...6, epoch: 1, count: 3, reason: .expired), of: "org.eventrelay.Relocation1")
        counters.add(Gap(7...UInt64.max, epoch: 1, count: nil, reason: .epochChanged), of: "a.b")
        let taken = counters.take()
        let tally = taken["org.eventrelay.Relocation1"]
        #expect(tally?.events["BoxProvisioned"]?.count == 3 && tally?.sequence == 3 && tally?.lost == 3)
        #expect(tally?.events["BoxProvisioned"]?.latency.percentile(1) == 50)
        #expect(taken["a.b"]?.lostUnknown == true)
        #expect(counters.take().isEmpty)
    }

    private func status(_ write: (inout WireWriter) throws -> Void) throws -> TopStatus {
        let body = try Samples.body { writer in
            let array = writer.beginArray(elementAlignment: 8)
            try write(&writer)
            try writer.endArray(array)
        }
        return try body.withUnsafeBytes { bytes in
            var reader = WireReader(bytes)
            return try TopStatus.read(&reader)
        }
    }
    @Test("a status is read for what is known of it, and the rest is passed over") func readsStatus() throws {
        func entry(_ name: String, _ signature: String, _ writer: inout WireWriter) throws {
            writer.align(8)
            try writer.string(name)
            writer.signature(try Signature(signature))
        }
        let status = try status { writer in
            try entry("Durability", "s", &writer)
            try writer.string("volatile")
            try entry("Head", "t", &writer)
            writer.uint64(17)
            try entry("RingOpen", "u", &writer)  // Of another type than now.
            writer.uint32(1)
            try entry("SignalsPaused", "b", &writer)
            writer.bool(true)
            try entry("Subscribers", "a(sasst)", &writer)
            let array = writer.beginArray(elementAlignment: 8)
            for (peer, names, transport, sequence) in [
                (":1.5", ["*"], "ring", UInt64(12)), (":1.6", ["A", "B"], "signal", 0),
            ] {
                writer.align(8)
                try writer.string(peer)
                let inner = writer.beginArray(elementAlignment: 4)
                for name in names { try writer.string(name) }
                try writer.endArray(inner)
                try writer.string(transport)
                writer.uint64(sequence)
            }
            try writer.endArray(array)
        }
        #expect(
            status
                == TopStatus(
                    head: 17, signalsPaused: true,
                    subscribers: StatusSubscribers([
                        .init(peer: ":1.5", names: ["*"], transport: "ring", sequence: 12),
                        .init(peer: ":1.6", names: ["A", "B"], transport: "signal", sequence: 0),
                    ])))
        #expect(try self.status { _ in } == TopStatus())
        #expect(throws: (any Error).self) { try self.status { $0.uint64(7) } }
    }
}
