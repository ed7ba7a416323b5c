import RelayCore
import TestTraits
import Testing

@testable import RelayMirrors
import RelayWire

@Suite("Events by signals, for an exporter", .tags(.g2)) struct LiveEventsTests {
    private func body(_ sequence: UInt64, size: Int = 0) -> [UInt8] {
        var writer = WireWriter()
        for _ in 0..<size / 8 { writer.uint64(7) }
        Stamp(epoch: 3, sequence: sequence, previous: sequence - 1, publishedAt: Timestamp(microseconds: 5)).write(
            into: &writer)
        return writer.takeBytes()
    }
    private func add(_ live: inout LiveEvents, _ body: [UInt8]) {
        body.withUnsafeBytes { live.add("Added", $0) }
    }
    private func text(_ news: LiveEvents.News) -> String {
        switch news {
        case .ask: "ask"
        case .nothing: "nothing"
        case .events(let events): events.map { "\($0.sequence)" }.joined(separator: " ")
        }
    }

    @Test("G8: a sequence that no journal reaches is a doubt", .tags(.g8)) func beyondAll() {
        var live = LiveEvents()
        _ = live.take(after: 0)
        for sequence in [UInt64(7), .max, .max, 9] { add(&live, body(sequence)) }
        #expect(text(live.take(after: 6)) == "ask" && live.head == 9)
    }
    /// A journal, signals of which any may be lost, and an exporter: in every interleaving of a few steps.
    @Test("whatever is lost on the way, each event is taken once, in order", .tags(.g1)) func everyInterleaving() {
        struct Site {
            var journal: UInt64 = 0
            var onTheWay: [UInt64] = []
            var live = LiveEvents()
            var position: UInt64 = 0
        }
        var count = 0
        func explore(_ site: Site, _ left: Int) {
            count += 1
            // Once no more is lost, a doubt leads to all there is.
            var rest = site
            rest.live.ask()
            rest.onTheWay = []
            while rest.position < rest.journal { take(&rest) }
            #expect(rest.position == rest.journal)
            if left == 0 { return }
            var next = site
            next.journal += 1
            next.onTheWay.append(next.journal)
            explore(next, left - 1)
            if let first = site.onTheWay.first {
                next = site
                next.onTheWay.removeFirst()
                explore(next, left - 1)
                add(&next.live, body(first))
                explore(next, left - 1)
            }
            next = site
            take(&next)
            explore(next, left - 1)
        }
        func take(_ site: inout Site) {
            switch site.live.take(after: site.position) {
            case .ask: site.position = site.journal
            case .nothing: break
            case .events(let events):
                #expect(events.map(\.sequence) == Array(site.position + 1...site.position + UInt64(events.count)))
                site.position += UInt64(events.count)
                #expect(site.position <= site.journal)
            }
        }
        explore(Site(), 9)
        #expect(count > 20_000)
    }
    @Test("at first the journal is asked, and then what comes is enough") func asking() {
        var live = LiveEvents()
        add(&live, body(5))
        #expect(text(live.take(after: 4)) == "ask" && text(live.take(after: 5)) == "nothing")
        add(&live, body(6))
        add(&live, body(7))
        #expect(text(live.take(after: 6)) == "7" && text(live.take(after: 7)) == "nothing")
    }
    @Test("a hole, what has no stamp, and what has no room are asked for") func doubts() {
        var live = LiveEvents()
        _ = live.take(after: 0)
        add(&live, body(1))
        add(&live, body(3))
        #expect(text(live.take(after: 0)) == "ask")
        add(&live, [1, 2, 3])
        #expect(text(live.take(after: 3)) == "ask")
        add(&live, body(9))
        #expect(text(live.take(after: 3)) == "ask")
        for sequence in 10...20 as ClosedRange<UInt64> { add(&live, body(sequence, size: 64 << 10)) }
        #expect(text(live.take(after: 9)) == "ask")
    }
}
