import TransportReport
import Testing

@Suite("Bench goals")
struct GoalsTests {
    @Test("with good figures all goals are met, and with none none is")
    func extremes() {
        let unmet = Results.complete().goals.filter { !$0.isMet }
        #expect(unmet.map(\.line) == [])
        let empty = Results.sample().goals
        #expect(empty.allSatisfy { $0.verdict == "not measured" && $0.isMet == ($0.limit == nil) })
    }
    @Test("a row in which a peer is faster is named, and a missing row is no success")
    func peers() throws {
        var results = Results.complete(rounds: 1)
        let slow = Results.sample(rounds: 1, only: "lossless datagram spin 256").rows.map(\.cell)
        let cell = try #require(slow.first)
        // The median of two rounds' ratios: a second round in which the peer is faster.
        for other in Plan.allCells {
            var figures = Results.figures(of: other)
            if other == cell { figures[.rate] = 1e9 }
            results.add(figures, to: other)
        }
        let goal = try #require(results.goals.first { $0.text.hasPrefix("rows in which a peer") })
        #expect(goal.value == 0 && goal.isMet)  // 8 and 0.008: their median is above 1.
        for other in Plan.allCells {
            var figures = Results.figures(of: other)
            if other == cell { figures[.rate] = 1e9 }
            results.add(figures, to: other)
        }
        let missed = try #require(results.goals.first { $0.text.hasPrefix("rows in which a peer") })
        #expect(missed.value == 1 && missed.verdict == "MISSED")
        #expect(missed.note == "Unix datagrams spinning throughput, 256 bytes")

        var partial = Results.sample(rounds: 1)
        for other in Plan.allCells where other != cell { partial.add(Results.figures(of: other), to: other) }
        let unknown = try #require(partial.goals.first { $0.text.hasPrefix("rows in which a peer") })
        #expect(unknown.verdict == "not measured")
    }
    @Test("a peer counts with the better of its two waits")
    func betterWait() throws {
        var results = Results.sample(rounds: 1)
        for cell in Plan.allCells {
            var figures = Results.figures(of: cell)
            if cell.contender == .zeromq { figures[.p50] = cell.waiting == .spin ? 1e6 : 450 }
            results.add(figures, to: cell)
        }
        let goal = try #require(results.goals.first { $0.text.hasPrefix("peers' p50") })
        #expect(goal.value == 4.5 && !goal.isMet)
        #expect(goal.note == "least against ZeroMQ ipc blocking, 64 bytes")
        // Beside it: what the best that could be had would have, which is no goal.
        let limit = try #require(results.goals.last)
        #expect(limit.verdict == "beside" && limit.isMet && !limit.line.contains("at least"))
    }
    @Test("ratios are taken in each round")
    func ratios() throws {
        var results = Results.sample(rounds: 3)
        let (ours, bare) = (Cell(.latency, .ours, .spin), Cell(.latency, .bareWords, .spin))
        // The machine is ten times slower in the second round: the ratio is not.
        for (first, second) in [(120.0, 50.0), (1_300, 500), (130, 50)] {
            results.add([.p50: first], to: ours)
            results.add([.p50: second], to: bare)
        }
        let ratio = try #require(results.ratio(.p50, ours, to: bare))
        #expect(abs(ratio - 2.6) < 1e-9)
        results.add([.p50: 1], to: ours)
        // Not in pairs: the medians' ratio, 125 to 50.
        #expect(results.ratio(.p50, ours, to: bare) == 2.5)
    }
}
