import RelayTool

/// Those who are attached, as rows: whole columns, as many as the width takes.
struct TopSubscriberTable {
    let view: TopView
    /// By unique name.
    let programs: [String: String]

    private static let gap = 2
    /// For the names of events: a longer one may be cut.
    private static let mostLeastEvents = 24

    private enum Column: CaseIterable {
        case subscriber, program, transport, lag, interface, events
        var title: String {
            switch self {
            case .subscriber: "SUBSCRIBER"
            case .program: "PROGRAM"
            case .transport: "BY"
            case .lag: "LAG"
            case .interface: "STREAM"
            case .events: "EVENTS"
            }
        }
    }

    /// - Parameter showing: those that fit; the columns are laid out for all.
    func lines(_ rows: [TopSubscriberRow], showing range: Range<Int>? = nil, selected: Int?) -> [TopView.Line] {
        let text = view.text
        let isKnown = rows.contains { programs[$0.subscriber.peer] != nil }
        func cell(_ column: Column, _ row: TopSubscriberRow) -> String {
            switch column {
            case .subscriber: text.safe(row.subscriber.peer)
            case .program: text.safe(programs[row.subscriber.peer] ?? "-")
            case .transport: text.safe(row.subscriber.transport)
            case .lag: row.lag.map(TopNumbers.count) ?? "-"
            case .interface: text.safe(row.interface)
            case .events: ""
            }
        }
        let marks = selected != nil
        let room = (view.width ?? .max) - (marks ? TopText.selected.count : 0)
        let all = Column.allCases.filter { $0 != .program || isKnown }
        var widths = Dictionary(
            uniqueKeysWithValues: all.map { column in
                (column, rows.map { cell(column, $0).count }.reduce(column.title.count, max))
            })
        // The first name, and a sign that there are more.
        let first = rows.map { row in
            row.subscriber.receivesAll
                ? 3
                : (row.subscriber.names.first?.count ?? 0)
                    + (row.subscriber.names.count > 1 ? 1 + text.ellipsis.count : 0)
        }
        widths[.events] = min(first.reduce(Column.events.title.count, max), Self.mostLeastEvents)
        widths[.lag] = max(widths[.lag] ?? 0, 7)
        var short = widths
        short[.interface] = rows.map { row in
            text.last(row.interface).count + (row.interface.contains(".") ? text.ellipsis.count : 0)
        }.reduce(Column.interface.title.count, max)
        func used(_ columns: [Column], _ widths: [Column: Int]) -> Int {
            columns.reduce(-Self.gap) { $0 + Self.gap + (widths[$1] ?? 0) }
        }
        // What is left out first stands last.
        let tries: [([Column], [Column: Int])] = [
            (all, widths), (all, short), (all.filter { $0 != .events }, widths),
            (all.filter { $0 != .events }, short), (all.filter { $0 != .events && $0 != .program }, short),
            ([.subscriber, .transport, .lag], short), ([.subscriber, .lag], short),
        ]
        let (columns, chosen) = tries.first { used($0.0, $0.1) <= room } ?? ([.subscriber, .lag], short)

        func line(_ cells: [Column: String], isSelected: Bool) -> String {
            var result = marks ? (isSelected ? TopText.selected : TopText.other) : ""
            for (index, column) in columns.enumerated() {
                if index > 0 { result += String(repeating: " ", count: Self.gap) }
                let (cell, width) = (cells[column] ?? "", chosen[column] ?? 0)
                result += column == .lag ? text.right(cell, to: width) : text.padded(cell, to: width)
            }
            return text.trimmed(result)
        }
        let titles = Dictionary(uniqueKeysWithValues: Column.allCases.map { ($0, $0.title) })
        var lines = [TopView.Line(text: line(titles, isSelected: false), style: .heading)]
        let left = view.width == nil ? Int.max : room - used(columns.filter { $0 != .events }, chosen) - Self.gap
        for index in range ?? rows.indices {
            let row = rows[index]
            var cells = Dictionary(uniqueKeysWithValues: columns.map { ($0, cell($0, row)) })
            cells[.interface] = text.shortened(cell(.interface, row), to: chosen[.interface] ?? 0)
            if columns.contains(.events) {
                let names = row.subscriber.receivesAll ? ["all"] : row.subscriber.names.map(text.safe)
                cells[.events] = text.words(names, to: left)
            }
            lines.append(
                TopView.Line(
                    text: line(cells, isSelected: index == selected), style: index == selected ? .selected : .plain))
        }
        return lines
    }
}
