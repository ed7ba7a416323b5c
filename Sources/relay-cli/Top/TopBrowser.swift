/// What somebody looks at in `top`: a value that is given keys, and does nothing itself.
struct TopBrowser: Hashable, Sendable {
    enum Effect: Hashable { case none, draw, quit }

    private(set) var page: TopPage
    private(set) var showsHelp = false
    /// Whether the selected row is shown by itself.
    private(set) var showsDetail = false
    private var streams: TopSorting
    private var subscribers: TopSorting
    /// nil: the first row, whichever that is.
    private(set) var selected: TopRowID?
    /// Where it was when a key came: the row that is nearest is selected when it has gone.
    private var place = 0

    /// - Parameter sorting: of the page; others as usual.
    init(page: TopPage = .streams, sorting: TopSorting? = nil) {
        self.page = page
        (streams, subscribers) = (TopSorting(order: .name), TopSorting(order: .lag))
        if let sorting { setSorting(sorting) }
    }

    var sorting: TopSorting { sorting(on: page) }
    func sorting(on page: TopPage) -> TopSorting { page == .streams ? streams : subscribers }
    private mutating func setSorting(_ sorting: TopSorting) {
        if page == .streams { streams = sorting } else { subscribers = sorting }
    }

    /// Which of the rows is selected; nil: there are none.
    func index(in rows: [TopRowID]) -> Int? {
        if rows.isEmpty { return nil }
        return selected.flatMap { rows.firstIndex(of: $0) } ?? min(place, rows.count - 1)
    }
    /// The row that is shown by itself; nil: the list is shown.
    func detail(in rows: [TopRowID]) -> TopRowID? {
        // One that has gone is not replaced by its neighbour without a key.
        showsDetail && !showsHelp ? selected ?? index(in: rows).map { rows[$0] } : nil
    }

    /// - Parameters:
    ///   - rows: those of the page, in their order.
    ///   - room: how many fit on the screen.
    mutating func take(_ key: TopKey, rows: [TopRowID], room: Int) -> Effect {
        // What cannot be seen is not changed.
        if showsHelp, ![.quit, .help, .enter, .back, .otherPage, .streams, .subscribers].contains(key) { return .none }
        switch key {
        case .quit: return .quit
        case .help: showsHelp.toggle()
        case .back, .enter:
            if showsHelp {
                showsHelp = false
            } else if key == .back {
                if !showsDetail { return .none }
                showsDetail = false
            } else {
                guard !showsDetail, let index = index(in: rows) else { return .none }
                select(index, of: rows)
                showsDetail = true
            }
        case .otherPage: show(page.other)
        case .streams: show(.streams)
        case .subscribers: show(.subscribers)
        case .up, .down, .pageUp, .pageDown, .first, .last:
            guard let index = index(in: rows) else { return .none }
            let step = min(max(1, room - 1), rows.count)
            let place =
                switch key {
                case .up: index - 1
                case .down: index + 1
                case .pageUp: index - step
                case .pageDown: index + step
                case .first: 0
                default: rows.count - 1
                }
            select(min(max(place, 0), rows.count - 1), of: rows)
        case .nextOrder: turn(by: 1)
        case .previousOrder: turn(by: -1)
        case .reverse: setSorting(TopSorting(order: sorting.order, isReversed: !sorting.isReversed))
        }
        return .draw
    }
    private mutating func show(_ other: TopPage) {
        if page != other { (selected, place, showsDetail) = (nil, 0, false) }
        (page, showsHelp) = (other, false)
    }
    private mutating func select(_ index: Int, of rows: [TopRowID]) { (selected, place) = (rows[index], index) }
    private mutating func turn(by step: Int) {
        let orders = TopOrder.all(on: page)
        let index = orders.firstIndex(of: sorting.order) ?? 0
        setSorting(TopSorting(order: orders[(index + step + orders.count) % orders.count]))
    }
}
