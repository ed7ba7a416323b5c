/// Makes lines of the model: a pure function of it and of the terminal's size.
struct TopView {
    struct Line: Equatable {
        enum Style { case title, heading, interface, plain, faint }
        var text: String
        var style = Style.plain
    }
    /// In cells; nil: as much as it takes.
    var width: Int?
    var height: Int?
    var isUTF8 = true
    /// Whether keys are heeded.
    var hasKeys = true

    private static let leastName = 12
    private static let leastSpark = 8
    private static let mostSpark = 60

    private enum Column: CaseIterable {
        case rate, p99, lag, p50, lost
        var width: Int {
            switch self {
            case .rate: 10
            case .p50, .p99: 8
            case .lag: 9
            case .lost: 8
            }
        }
        var title: String {
            switch self {
            case .rate: "RATE/S"
            case .p50: "P50"
            case .p99: "P99"
            case .lag: "LAG"
            case .lost: "LOST"
            }
        }
        /// As they stand.
        static let order: [Self] = [.rate, .p50, .p99, .lag, .lost]
    }

    func lines(_ model: TopModel) -> [Line] {
        var lines = [title(model)]
        if let notice = model.notice { lines.append(Line(text: notice, style: .faint)) }
        lines += events(model)
        lines += subscribers(model)
        if let height, lines.count > height {
            let hidden = lines.count - max(0, height - 1)
            lines = Array(lines.prefix(max(0, height - 1)))
            if height > 0 { lines.append(Line(text: "\(ellipsis) \(hidden) more lines", style: .faint)) }
        }
        return lines.map { Line(text: clipped($0.text, to: width ?? .max), style: $0.style) }
    }

    private func title(_ model: TopModel) -> Line {
        let rate = model.interfaces.values.reduce(0) { $0 + $1.whole.rate }
        let text = "\(model.service)  \(TopNumbers.rate(rate)) events/s"
        guard hasKeys, let width else { return Line(text: text, style: .title) }
        let hint = "q quits"
        let blanks = width - text.count - hint.count
        return Line(text: blanks >= 2 ? text + String(repeating: " ", count: blanks) + hint : text, style: .title)
    }

    // MARK: Events

    private func events(_ model: TopModel) -> [Line] {
        let interfaces = model.interfaces.sorted { $0.key < $1.key }
        let names = interfaces.flatMap { entry in [entry.key] + entry.value.events.keys.map { "  " + $0 } }
        guard let longest = names.map(\.count).max() else { return [] }
        let plan = Plan(self, name: longest)
        var lines = [Line(text: plan.text("EVENT", plan.columns.map(\.title), spark: ""), style: .heading)]
        for (name, interface) in interfaces {
            lines.append(row(name, interface.whole, lag: lag(interface), lost: lost(interface), plan, .interface))
            for (event, figures) in interface.events.sorted(by: { $0.key < $1.key }) {
                lines.append(row("  " + event, figures, lag: "", lost: "", plan, .plain))
            }
        }
        return lines
    }
    private func lag(_ interface: TopModel.Interface) -> String { interface.lag.map(TopNumbers.count) ?? "-" }
    private func lost(_ interface: TopModel.Interface) -> String {
        if interface.lostUnknown { return ">" + TopNumbers.count(interface.lost) }
        return interface.lost == 0 ? "-" : TopNumbers.count(interface.lost)
    }
    private func row(
        _ name: String, _ figures: TopModel.Figures, lag: String, lost: String, _ plan: Plan, _ style: Line.Style
    ) -> Line {
        let latency = figures.latency
        func time(_ part: Double) -> String {
            latency.percentile(part).map { TopNumbers.time($0, isUTF8: isUTF8) } ?? "-"
        }
        let cells = plan.columns.map { column in
            switch column {
            case .rate: TopNumbers.rate(figures.rate)
            case .p50: time(0.5)
            case .p99: time(0.99)
            case .lag: lag
            case .lost: lost
            }
        }
        let spark = Sparkline.text(figures.rates, width: plan.spark, isUTF8: isUTF8)
        return Line(text: plan.text(name, cells, spark: spark), style: style)
    }

    /// Which columns there is room for.
    private struct Plan {
        let view: TopView
        let name: Int
        let columns: [Column]
        let spark: Int

        init(_ view: TopView, name longest: Int) {
            self.view = view
            guard let width = view.width else {
                (name, columns, spark) = (longest, Column.order, 0)
                return
            }
            let wanted = min(longest, max(TopView.leastName, width / 2))
            // The least important go first.
            var kept = Column.allCases
            func used() -> Int { kept.reduce(0) { $0 + 1 + $1.width } }
            while kept.count > 1, used() + min(wanted, TopView.leastName) > width { kept.removeLast() }
            columns = Column.order.filter { kept.contains($0) }
            let rest = max(0, width - used())
            name = min(longest, rest)
            let spare = rest - name - 2
            spark = spare >= TopView.leastSpark ? min(spare, TopView.mostSpark) : 0
        }
        func text(_ first: String, _ cells: [String], spark line: String) -> String {
            var text = view.padded(view.clipped(view.safe(first), to: name), to: name)
            for (cell, column) in zip(cells, columns) {
                text += " " + String(repeating: " ", count: max(0, column.width - cell.count)) + cell
            }
            if spark > 0 { text += "  " + line }
            return view.trimmed(text)
        }
    }

    // MARK: Subscribers

    private func subscribers(_ model: TopModel) -> [Line] {
        var rows: [[String]] = []
        var isTold = false
        for (name, interface) in model.interfaces.sorted(by: { $0.key < $1.key }) {
            guard let status = interface.status, let subscribers = status.subscribers else { continue }
            isTold = true
            for one in subscribers {
                let head = status.head ?? 0
                let lag = one.sequence == 0 ? "-" : TopNumbers.count(head > one.sequence ? head - one.sequence : 0)
                let names = one.names.contains("*") ? "all" : one.names.joined(separator: " ")
                rows.append([safe(one.peer), safe(one.transport), lag, name, safe(names)])
            }
        }
        if !isTold { return [] }
        let titles = ["SUBSCRIBER", "TRANSPORT", "LAG", "INTERFACE", "EVENTS"]
        let widths = titles.indices.map { index in
            min(40, ([titles] + rows).map { $0[index].count }.max() ?? 0)
        }
        func line(_ cells: [String]) -> String {
            let parts = cells.indices.map { index -> String in
                let cell = index < 4 ? clipped(cells[index], to: widths[index]) : cells[index]
                let blanks = String(repeating: " ", count: max(0, widths[index] - cell.count))
                return index == 2 ? blanks + cell : cell + blanks
            }
            return trimmed(parts.joined(separator: "  "))
        }
        return [Line(text: ""), Line(text: line(titles), style: .heading)] + rows.map { Line(text: line($0)) }
    }

    // MARK: Text

    private var ellipsis: String { isUTF8 ? "…" : "..." }
    /// A text of a peer's, with nothing in it that acts on a terminal, or is wider than it counts.
    private func safe(_ text: String) -> String {
        String(String.UnicodeScalarView(text.unicodeScalars.map { 0x20..<0x7F ~= $0.value ? $0 : "?" }))
    }
    private func clipped(_ text: String, to width: Int) -> String {
        if text.count <= width { return text }
        return width <= ellipsis.count
            ? String(text.prefix(max(0, width))) : text.prefix(width - ellipsis.count) + ellipsis
    }
    private func padded(_ text: String, to width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - text.count))
    }
    private func trimmed(_ text: String) -> String {
        String(text.reversed().drop { $0 == " " }.reversed())
    }
}
