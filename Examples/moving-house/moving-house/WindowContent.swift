import CGTK
import MovingHouse

/// The window's widgets. They show a `MoveView`, and report what a person does as a `MoveAction`: nothing here knows a
/// relay.
final class WindowContent {
    private let held: HeldWidget
    var window: Widget { held.widget }
    private let perform: (MoveAction) -> Void
    private let theme: Theme
    private let summary: Widget
    private let orderForm: CommandForm
    private let packForm: CommandForm
    private let grid: Widget
    private let pages: Widget
    private let log = LogPanel()
    private let statusBar: StatusBar
    private var cards: [Int64: BoxCard] = [:]

    /// - Parameter isDark: nil for what GTK's settings say.
    init(isDark: Bool?, title: String, perform: @escaping (MoveAction) -> Void) {
        self.perform = perform
        theme = Theme(isDark: isDark)
        summary = label("", "summary", name: "summary")
        let capacity = CapacityChoice([5, 10, 20], chosen: 10)
        orderForm = CommandForm(
            "order", title: "Order a box", placeholder: "Label, such as Kitchen", verb: "Order",
            hint: "It holds 5, 10 or 20 items.", extra: capacity.root
        ) {
            perform(.edit(.order))
        } send: {
            perform(.order(label: $0, capacity: capacity.chosen))
        }
        packForm = CommandForm(
            "pack", title: "Pack an item", placeholder: "Item, such as Lamp", verb: "Pack",
            hint: "It goes into the least loaded box with room."
        ) {
            perform(.edit(.pack))
        } send: {
            perform(.pack(title: $0))
        }
        grid = made(gtk_flow_box_new()).styled("grid")
        let flow = as_flow_box(grid)
        gtk_flow_box_set_selection_mode(flow, GTK_SELECTION_NONE)
        gtk_flow_box_set_homogeneous(flow, 1)
        gtk_flow_box_set_column_spacing(flow, 16)
        gtk_flow_box_set_row_spacing(flow, 16)
        gtk_flow_box_set_max_children_per_line(flow, 8)
        gtk_widget_set_valign(grid, GTK_ALIGN_START)
        pages = made(gtk_stack_new()).growing(across: true, down: true)
        gtk_stack_add_named(
            as_stack(pages), Self.page("waiting", "Looking for the boxes", "The service has not answered yet."),
            "waiting")
        gtk_stack_add_named(
            as_stack(pages),
            Self.page("empty", "No boxes yet", "Order one above. What you pack goes into the least loaded box."),
            "empty")
        gtk_stack_add_named(as_stack(pages), scrolled(grid), "boxes")
        statusBar = StatusBar { perform(.dismissGap) }
        held = HeldWidget(made(gtk_window_new()).styled("moving-house"))
        gtk_window_set_title(as_window(window), title)
        gtk_window_set_default_size(as_window(window), 1100, 784)
        gtk_window_set_titlebar(as_window(window), header(title))
        let work = column(16, row(16, orderForm.root, packForm.root), pages).growing(across: true)
        let content = row(16, work, log.root).styled("content").growing(down: true)
        gtk_window_set_child(as_window(window), column(0, content, statusBar.root))
    }
    private func header(_ title: String) -> Widget {
        let header = made(gtk_header_bar_new())
        let headline = row(12, drawing(of: 30), column(0, label(title, "headline"), summary).centred())
        gtk_header_bar_pack_start(as_header_bar(header), headline)
        // The headline stands in for a title in the middle.
        gtk_header_bar_set_title_widget(as_header_bar(header), label())
        let switchTheme = iconButton(
            "display-brightness-symbolic", "quiet", name: "theme", tip: "Light or dark"
        ) { [weak theme] in theme?.toggle() }
        gtk_header_bar_pack_end(as_header_bar(header), switchTheme)
        return header
    }
    /// What stands in the place of boxes.
    private static func page(_ name: String, _ title: String, _ text: String) -> Widget {
        let (title, text) = (label(title, "headline"), label(text, "faint", name: name))
        for label in [title, text] { gtk_widget_set_halign(label, GTK_ALIGN_CENTER) }
        return column(10, drawing(of: 112), title, text).centred()
    }

    func show(_ view: MoveView) {
        summary.setText(view.summary)
        orderForm.show(view.order)
        packForm.show(view.pack)
        show(view.boxes)
        log.show(view.log)
        statusBar.show(view.status)
    }
    private func show(_ boxes: [BoxView]?) {
        let page = boxes.map { $0.isEmpty ? "empty" : "boxes" } ?? "waiting"
        gtk_stack_set_visible_child_name(as_stack(pages), page)
        let present = Set((boxes ?? []).map(\.id))
        for (id, card) in cards where !present.contains(id) {
            gtk_flow_box_remove(as_flow_box(grid), card.root)
            cards[id] = nil
        }
        for (index, box) in (boxes ?? []).enumerated() {
            let card = cards[box.id] ?? BoxCard(box.id, perform: perform)
            if cards.updateValue(card, forKey: box.id) == nil {
                gtk_flow_box_insert(as_flow_box(grid), card.root, Int32(index))
                // The grid's own wrapper is nothing to stop at with the keyboard: the card's buttons are.
                gtk_widget_set_focusable(gtk_widget_get_parent(card.root), 0)
            }
            card.show(box)
        }
    }
    /// Shows the window, ready to type.
    func present() {
        gtk_window_present(as_window(window))
        orderForm.focus()
    }
    var isDark: Bool { theme.isDark }
}
