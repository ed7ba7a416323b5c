extension Results {
    /// Everything that was measured.
    public var tables: [Table] {
        [stopsTable] + Waiting.allCases.map { latencyTable($0) }
            + Waiting.allCases.map { throughputTable(.lossless, $0) }
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

    private func lost(_ cell: Cell) -> String { middle(.lost, cell, Number.share) }

    /// What nobody could do better, and nobody's code is to blame for.
    private var stopsTable: Table {
        var table = Table(
            "The machine's own stops, while a program spins on both processors and does nothing else",
            ["", "longest", "share of the time", "p99 at best", "p99.9 at best"])
        for cell in rows(.senderStops) + rows(.receiverStops) {
            table.add([
                cell.section == .senderStops ? "the sender's processor" : "the receiver's processor",
                spread(.longestStop, cell, Number.time), spread(.stopShare, cell, Number.share),
                spread(.p99, cell, Number.time), spread(.p999, cell, Number.time),
            ])
        }
        return table
    }
    private func latencyTable(_ waiting: Waiting) -> Table {
        let interval = Plan.interval(of: Cell(.latency, .ours, waiting)) / 1_000
        var table = Table(
            "One way, \(waiting.label), an event each \(interval) µs"
                + (waiting == .block ? " (signals beside: 1 ms)" : ""),
            ["", "bytes", "p50", "p99", "p99.9", "never came", "× bare", "at the caller", "CPU s/M"])
        for cell in rows(.latency) where cell.waiting == waiting {
            let ratio = ratio(.p50, cell, to: Cell(.latency, .bareWords, waiting))
            table.add([
                cell.contender.label, bytes(cell), spread(.p50, cell, Number.time), middle(.p99, cell, Number.time),
                middle(.p999, cell, Number.time), lost(cell), ratio.map(Number.short) ?? "–",
                middle(.caller, cell, Number.time),
                // Who spins burns its processor whatever comes.
                waiting == .spin ? "–" : cpu(cell),
            ])
        }
        return table
    }
    private func throughputTable(_ section: Cell.Section, _ waiting: Waiting?) -> Table {
        var table = Table(
            waiting.map { "As fast as nothing is lost, \($0.label)" } ?? "As fast as the sender can",
            ["", "bytes", "events/s", "never came", "CPU s/M"])
        for cell in rows(section) where waiting == nil || cell.waiting == waiting {
            table.add([
                cell.contender.label, bytes(cell), spread(.rate, cell, Number.rate), lost(cell), cpu(cell),
            ])
        }
        return table
    }
    private var fullSpeedTable: Table { throughputTable(.fullSpeed, nil) }
    private var fanOutTable: Table {
        var table = Table(
            "To several receivers, blocking, 64 bytes each 5 ms",
            ["", "receivers", "p50", "p99", "never came", "until the last has it", "at the caller", "CPU s/M"])
        for cell in rows(.fanOut) {
            table.add([
                cell.contender.label, "\(cell.receivers)", spread(.p50, cell, Number.time),
                middle(.p99, cell, Number.time), lost(cell), middle(.last, cell, Number.time),
                middle(.caller, cell, Number.time), cpu(cell),
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
