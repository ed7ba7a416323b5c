extension Results {
    /// Everything that was measured.
    public var tables: [Table] {
        Waiting.allCases.map { latencyTable($0) } + Waiting.allCases.map { throughputTable(.lossless, $0) }
            + [fullSpeedTable, fanOutTable, publishTable]
    }
    private func rows(_ section: Cell.Section) -> [Cell] { rows.map(\.cell).filter { $0.section == section } }
    /// Median, with the least and the greatest.
    private func spread(_ metric: Metric, _ cell: Cell, _ form: (Double) -> String) -> String {
        let values = values(metric, of: cell)
        guard let median = Statistics.median(values), let least = values.min(), let most = values.max() else {
            return "–"
        }
        return values.count == 1 ? form(median) : "\(form(median)) (\(form(least)) … \(form(most)))"
    }
    private func middle(_ metric: Metric, _ cell: Cell, _ form: (Double) -> String) -> String {
        median(metric, of: cell).map(form) ?? "–"
    }
    private func cpu(_ cell: Cell) -> String {
        let daemon = median(.daemonCPU, of: cell) ?? 0
        return middle(.cpu, cell, Number.short) + (daemon >= 0.01 ? " + \(Number.short(daemon))" : "")
    }
    private func bytes(_ cell: Cell) -> String { cell.contender == .bareWords ? "16" : "\(cell.size)" }

    private func latencyTable(_ waiting: Waiting) -> Table {
        let interval = Plan.interval(of: Cell(.latency, .ours, waiting)) / 1_000
        var table = Table(
            "One way, \(waiting.label), an event each \(interval) µs"
                + (waiting == .block ? " (signals beside: 1 ms)" : ""),
            ["", "bytes", "p50", "p99", "p99.9", "× bare", "at the caller", "CPU s/M", "came"])
        for cell in rows(.latency) where cell.waiting == waiting {
            let ratio = ratio(.p50, cell, to: Cell(.latency, .bareWords, waiting))
            table.add([
                cell.contender.label, bytes(cell), spread(.p50, cell, Number.time), middle(.p99, cell, Number.time),
                middle(.p999, cell, Number.time), ratio.map(Number.short) ?? "–",
                middle(.caller, cell, Number.time),
                // Who spins burns its processor whatever comes.
                waiting == .spin ? "–" : cpu(cell), middle(.delivered, cell) { "\(Number.short($0)) %" },
            ])
        }
        return table
    }
    private func throughputTable(_ section: Cell.Section, _ waiting: Waiting?) -> Table {
        var table = Table(
            waiting.map { "As fast as nothing is lost, \($0.label)" } ?? "As fast as the sender can",
            ["", "bytes", "events/s", "came", "CPU s/M"])
        for cell in rows(section) where waiting == nil || cell.waiting == waiting {
            table.add([
                cell.contender.label, bytes(cell), spread(.rate, cell, Number.rate),
                middle(.delivered, cell) { "\(Number.short($0)) %" }, cpu(cell),
            ])
        }
        return table
    }
    private var fullSpeedTable: Table { throughputTable(.fullSpeed, nil) }
    private var fanOutTable: Table {
        var table = Table(
            "To several receivers, blocking, 64 bytes each 5 ms",
            ["", "receivers", "p50", "p99", "until the last has it", "at the caller", "CPU s/M", "came"])
        for cell in rows(.fanOut) {
            table.add([
                cell.contender.label, "\(cell.receivers)", spread(.p50, cell, Number.time),
                middle(.p99, cell, Number.time), middle(.last, cell, Number.time), middle(.caller, cell, Number.time),
                cpu(cell), middle(.delivered, cell) { "\(Number.short($0)) %" },
            ])
        }
        return table
    }
    private var publishTable: Table {
        var table = Table("A publish of 64 bytes, at the caller", ["", "subscribers", "time", "CPU until all have it"])
        for cell in rows(.publish) {
            let who = cell.receivers == 0 ? "none" : "\(cell.receivers) stopped"
            table.add([cell.contender.label, who, spread(.caller, cell, Number.time), "–"])
        }
        for cell in rows(.wake) {
            table.add([
                cell.contender.label, "\(cell.receivers) asleep", spread(.caller, cell, Number.time),
                spread(.wakeCPU, cell, Number.time),
            ])
        }
        return table
    }
}
