import TransportReport

extension Results {
    static func sample(rounds: Int = 3, isQuick: Bool = false, only: String? = nil) -> Results {
        Results(
            machine: Machine(processor: "one <of> a kind", processors: 2, kernel: "6.1"),
            plan: Plan(rounds: rounds, isQuick: isQuick, only: only), isQuick: isQuick)
    }
    /// Every cell measured, and all goals met.
    static func complete(rounds: Int = 3) -> Results {
        var results = sample(rounds: rounds)
        for _ in 0..<rounds {
            for cell in Plan.allCells { results.add(figures(of: cell), to: cell) }
        }
        return results
    }
    static func figures(of cell: Cell) -> [Metric: Double] {
        let isPeer = Contender.peers.contains(cell.contender)
        var time = cell.waiting == .spin ? 100.0 : 20_000
        if cell.contender == .bareWords { time /= 2 }
        if cell.contender == .bareWords, cell.waiting == .block { time *= 1.9 }
        if isPeer { time *= cell.waiting == .spin ? 10 : 1.5 }
        return [
            .p50: time, .p99: 2 * time, .p999: 4 * time, .last: 2 * time, .caller: cell.section == .wake ? 9_000 : 60,
            .rate: isPeer ? 1e6 : 8e6, .lost: 0, .cpu: 0.2, .daemonCPU: 0.05, .wakeCPU: 400_000,
            .wakeTime: 900_000, .longestStop: 3_000_000, .stopShare: 0.5,
        ]
    }
}
