/// The views, without a toolkit: what a click or a key would call.
@MainActor public final class SearchField {
    private let events: EventOutlet<SearchEvent>
    private var text = ""
    init(_ events: EventOutlet<SearchEvent>) { self.events = events }

    public func type(_ more: String) {
        text += more
        events.publish(.typed(length: Int32(text.count)))
    }
    public func clear() {
        text = ""
        events.publish(.cleared)
    }
}
@MainActor public final class Sidebar {
    public let search: SearchField
    private let events: EventOutlet<SidebarEvent>
    init(_ events: EventOutlet<SidebarEvent>) {
        self.events = events
        search = SearchField(events.nested { .search($0) })
    }
    public func click(row: Int32) { events.publish(.selected(row: row)) }
}
@MainActor public final class Chart {
    private let events: EventOutlet<ChartEvent>
    init(_ events: EventOutlet<ChartEvent>) { self.events = events }
    public func pinch(_ factor: Double) { events.publish(.zoomed(by: factor)) }
    public func export() { events.publish(.exported) }
}
@MainActor public final class Window {
    public let sidebar: Sidebar
    public let charts: [Chart]
    private let events: EventOutlet<WindowEvent>
    public init(pages: Int32, _ events: EventOutlet<WindowEvent>) {
        self.events = events
        sidebar = Sidebar(events.nested { .sidebar($0) })
        charts = (1...pages).map { page in Chart(events.nested { .chart($0, page: page) }) }
        events.publish(.opened)
    }
    public func close() { events.publish(.closed) }
}
