extension Results {
    /// Every goal, in the order in which the table tells them.
    public var goals: [Goal] { publishGoals + latencyGoals + throughputGoals + peerGoals }

    private var publishGoals: [Goal] {
        let (one, many) = (Cell(.publish, .ours, receivers: 1), Cell(.publish, .ours, receivers: 64))
        let (ringOne, ringMany) = (Cell(.publish, .ring, receivers: 1), Cell(.publish, .ring, receivers: 64))
        let (wake, ringWake) = (Cell(.wake, .ours, receivers: 64), Cell(.wake, .ring, receivers: 64))
        return [
            Goal("publish of a 64-byte FixedLayoutEvent, nobody asleep, ns", median(.caller, of: one), atMost: 80),
            Goal("the same by the bare ring, ns", beside: median(.caller, of: Cell(.publish, .ring, receivers: 0))),
            Goal("publish with 64 stopped over 1 stopped, times", ratio(.caller, many, to: one), atMost: 4),
            Goal("the same by the bare ring, times", beside: ratio(.caller, ringMany, to: ringOne)),
            Goal("64 asleep: at the caller, µs", median(.caller, of: wake).map { $0 / 1e3 }, atMost: 15),
            Goal("the same by the bare ring, µs", beside: median(.caller, of: ringWake).map { $0 / 1e3 }),
            Goal(
                "64 asleep: publisher's CPU until all have it, µs", median(.wakeCPU, of: wake).map { $0 / 1e3 },
                atMost: 1_000),
            Goal("the same by the bare ring, µs", beside: median(.wakeCPU, of: ringWake).map { $0 / 1e3 }),
        ]
    }
    private var latencyGoals: [Goal] {
        func over(_ contender: Contender, _ waiting: Waiting) -> Double? {
            ratio(.p50, Cell(.latency, contender, waiting), to: Cell(.latency, .bareWords, waiting))
        }
        return [
            Goal("spinning p50 over the bare hand-over's, times", over(.ours, .spin), atMost: 3),
            Goal("the same by the bare ring, times", beside: over(.ring, .spin)),
            Goal("blocking p50 over the bare futex hand-over's, times", over(.ours, .block), atMost: 1.2),
            Goal("the same by the bare ring, times", beside: over(.ring, .block)),
        ]
    }
    private var throughputGoals: [Goal] {
        func best(_ contender: Contender) -> Cell? {
            Waiting.allCases.map { Cell(.lossless, contender, $0) }
                .max { (median(.rate, of: $0) ?? 0) < (median(.rate, of: $1) ?? 0) }
        }
        func millions(_ contender: Contender) -> Double? {
            best(contender).flatMap { median(.rate, of: $0) }.map { $0 / 1e6 }
        }
        let lost = [Contender.ours, .oursCoded].flatMap { contender in
            Waiting.allCases.flatMap { values(.lost, of: Cell(.lossless, contender, $0)) }
        }
        return [
            Goal("64-byte FixedLayoutEvents to one subscriber, million/s", millions(.ours), atLeast: 5),
            Goal("64-byte Codable events to one subscriber, million/s", millions(.oursCoded), atLeast: 1),
            Goal("of these never came, %", lost.max(), atMost: 0),
        ]
    }
    private var peerGoals: [Goal] {
        var slower: [String] = []
        var (compared, expected) = (0, 0)
        // How many times better ours is in a row; times are better when less.
        func compare(_ metric: Metric, _ cell: Cell, _ what: String) {
            let ours = Cell(
                cell.section, .ours, cell.waiting, size: cell.size, receivers: cell.receivers)
            expected += 1
            guard let ratio = ratio(metric, ours, to: cell) else { return }
            compared += 1
            if metric == .rate ? ratio <= 1 : ratio >= 1 { slower.append(what) }
        }
        for peer in Contender.peers {
            for waiting in Waiting.allCases {
                for size in Plan.sizes {
                    compare(
                        .p50, Cell(.latency, peer, waiting, size: size),
                        "\(peer.label) \(waiting.label) p50, \(size) bytes")
                    compare(
                        .rate, Cell(.lossless, peer, waiting, size: size),
                        "\(peer.label) \(waiting.label) throughput, \(size) bytes")
                }
            }
            for receivers in Plan.fanOuts {
                compare(.p50, Cell(.fanOut, peer, receivers: receivers), "\(peer.label) fan-out to \(receivers)")
            }
        }
        let (ours, bare) = (leastOfPeers(over: .ours), leastOfPeers(over: .barePayload))
        return [
            Goal(
                "rows in which a peer is as fast as ours or faster, of \(compared)",
                compared == expected || (isQuick && compared > 0) ? Double(slower.count) : nil, atMost: 0,
                note: slower.joined(separator: "; ")),
            Goal("peers' p50 over ours, spinning, times", ours.ratio, atLeast: 5, note: ours.what),
            Goal("the same over the bare hand-over of a payload, times", beside: bare.ratio, note: bare.what),
        ]
    }
    /// A peer counts with the better of its two waits: some have no spinning worth the name.
    private func leastOfPeers(over contender: Contender) -> (ratio: Double?, what: String) {
        var least: (ratio: Double, what: String)?
        for peer in Contender.peers {
            for size in Plan.sizes {
                let ours = Cell(.latency, contender, .spin, size: size)
                for waiting in Waiting.allCases {
                    guard let ratio = ratio(.p50, Cell(.latency, peer, waiting, size: size), to: ours) else { continue }
                    if ratio < least?.ratio ?? .infinity {
                        least = (ratio, "least against \(peer.label) \(waiting.label), \(size) bytes")
                    }
                }
            }
        }
        return (least?.ratio, least?.what ?? "")
    }
}
