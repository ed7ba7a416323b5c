import RelayTool

/// Streams and their events as rows: whole columns, as many as the width takes, and names that stay readable.
struct TopStreamTable {
    let view: TopView

    private static let leastSpark = 8
    private static let mostSpark = 60
    /// Names are cut only where nothing else is left to leave out.
    private static let mostLeastName = 24

    private enum Column: CaseIterable {
        case rate, p50, p99, lag, lost
        /// What usual figures take: columns do not move when one grows.
        var leastWidth: Int {
            switch self {
            case .rate, .lag: 7
            case .p50, .p99, .lost: 6
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
        /// What is left out first, where there is no room.
        static let leastImportant: [Self] = [.p50, .lag, .p99, .lost]
    }

    /// - Parameter showing: those that fit; the columns are laid out for all.
    func lines(_ rows: [TopStreamRow], showing range: Range<Int>? = nil, selected: Int?) -> [TopView.Line] {
        if rows.isEmpty { return [] }
        let text = view.text
        let names = rows.map { ($0.interface == nil ? "  " : "") + text.safe($0.name) }
        let cells = rows.map { row in Dictionary(uniqueKeysWithValues: Column.allCases.map { ($0, cell($0, row)) }) }
        let layout = Layout(view, names, cells, marks: selected != nil)
        let titles = Dictionary(uniqueKeysWithValues: Column.allCases.map { ($0, $0.title) })
        var lines = [TopView.Line(text: layout.line("EVENT", titles, spark: "", isSelected: false), style: .heading)]
        for index in range ?? rows.indices {
            let row = rows[index]
            let spark = Sparkline.text(row.figures.rates, width: layout.spark, isUTF8: view.isUTF8)
            lines.append(
                TopView.Line(
                    text: layout.line(names[index], cells[index], spark: spark, isSelected: index == selected),
                    style: index == selected ? .selected : row.interface == nil ? .plain : .interface))
        }
        return lines
    }
    private func cell(_ column: Column, _ row: TopStreamRow) -> String {
        let text = view.text
        switch column {
        case .rate: return TopNumbers.rate(row.figures.rate)
        case .p50: return text.time(row.figures.latency.percentile(0.5))
        case .p99: return text.time(row.figures.latency.percentile(0.99))
        case .lag: return row.interface.map { $0.lag.map(TopNumbers.count) ?? "-" } ?? ""
        case .lost: return row.interface.map(Self.lost) ?? ""
        }
    }
    static func lost(_ interface: TopModel.Interface) -> String {
        if interface.lostUnknown { return ">" + TopNumbers.count(interface.lost) }
        return interface.lost == 0 ? "-" : TopNumbers.count(interface.lost)
    }

    /// Which columns there is room for.
    private struct Layout {
        let view: TopView
        let name: Int
        let columns: [(column: Column, width: Int)]
        let spark: Int
        let marks: Bool

        init(_ view: TopView, _ names: [String], _ cells: [[Column: String]], marks: Bool) {
            (self.view, self.marks) = (view, marks)
            let all = Column.allCases.map { column in
                let most = cells.map { $0[column]?.count ?? 0 }.max() ?? 0
                return (column: column, width: max(column.leastWidth, column.title.count, most))
            }
            let longest = names.map(\.count).max() ?? 0
            guard let width = view.width else {
                (name, columns, spark) = (longest, all, 0)
                return
            }
            let room = width - (marks ? TopText.selected.count : 0)
            let text = view.text
            // A name that lost its first parts has a sign in their place.
            let least =
                names.map { name in
                    let short = text.last(name)
                    return short.count == name.count ? name.count : short.count + text.ellipsis.count
                }.max() ?? 0
            func used(_ columns: [(column: Column, width: Int)]) -> Int { columns.reduce(0) { $0 + 1 + $1.width } }
            // Whole names matter more than the median, and all other columns more than the whole of a name.
            var tries = [(all, longest), (all.filter { $0.column != .p50 }, longest), (all, least)]
            for count in 1...Column.leastImportant.count {
                let gone = Column.leastImportant.prefix(count)
                tries.append((all.filter { !gone.contains($0.column) }, min(least, TopStreamTable.mostLeastName)))
            }
            let kept = tries.first { used($0.0) + $0.1 <= room }?.0 ?? all.filter { $0.column == .rate }
            columns = kept
            let rest = max(0, room - used(kept))
            name = min(longest, rest)
            let spare = rest - name - 2
            spark = spare >= TopStreamTable.leastSpark ? min(spare, TopStreamTable.mostSpark) : 0
        }
        func line(_ first: String, _ cells: [Column: String], spark line: String, isSelected: Bool) -> String {
            let text = view.text
            let indent = first.prefix { $0 == " " }
            let short = text.shortened(String(first.dropFirst(indent.count)), to: max(0, name - indent.count))
            var result = marks ? (isSelected ? TopText.selected : TopText.other) : ""
            result += text.padded(text.clipped(indent + short, to: name), to: name)
            for (column, width) in columns { result += " " + text.right(cells[column] ?? "", to: width) }
            if spark > 0 { result += "  " + line }
            return text.trimmed(result)
        }
    }
}
