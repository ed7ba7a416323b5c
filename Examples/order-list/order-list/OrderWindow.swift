import CGTK
import Glibc
import OrderList
import RelayCore

/// A window with all orders. GTK's loop runs the main actor.
@MainActor final class OrderWindow {
    private let texts = gtk_string_list_new(nil)!
    private let window = gtk_window_new()!
    private let list = gtk_list_view_new(nil, nil)!
    // Each comes when it comes: orders that were read before the service went away may be shown after that.
    private var count = 0, state = EventRelay.State.connecting

    init(_ relay: EventRelay, closed loop: OpaquePointer) throws {
        // GTK makes widgets for the rows that are in sight, each from this.
        let row = """
            <interface><template class="GtkListItem"><property name="child"><object class="GtkLabel">
            <property name="xalign">0</property><binding name="label">
            <lookup name="string" type="GtkStringObject"><lookup name="item">GtkListItem</lookup></lookup>
            </binding></object></property></template></interface>
            """
        let rows = gtk_builder_list_item_factory_new_from_bytes(nil, g_bytes_new(row, gsize(row.utf8.count)))
        gtk_list_view_set_factory(OpaquePointer(list), rows)
        gtk_list_view_set_model(OpaquePointer(list), gtk_no_selection_new(texts))
        let scrolled = gtk_scrolled_window_new()!
        gtk_scrolled_window_set_child(as_scrolled_window(scrolled), list)
        gtk_window_set_child(as_window(window), scrolled)
        gtk_window_set_default_size(as_window(window), 400, 800)
        // Closing hides it, so that nothing is gone while the loop's last round runs.
        gtk_window_set_hide_on_close(as_window(window), 1)
        connect_callback(
            window, "hide", { g_main_loop_quit(OpaquePointer($0)) }, UnsafeMutableRawPointer(loop), { _, _ in })
        gtk_window_present(as_window(window))

        try relay.follow(self, Orders1.self, pages: ListOrders(), rows: \.orders, by: \.orderID) { event, rows in
            switch event {
            case .changed(let change): rows[id: change.order.orderID] = change.order
            case .removed(let order): rows[id: order.orderID] = nil
            }
        } show: { me, list in
            for change in list.changes { me.show(change) }
            me.count = list.rows.count
            me.showTitle()
        } onFailure: { me, error in
            me.say(error.message)
        }
        relay.publisher.subscribe(self, to: EventRelay.State.self) { me, state in
            me.state = state
            me.showTitle()
        } onGap: { _, _ in
        }
    }
    private func show(_ change: ListChange<Order>) {
        switch change {
        case .inserted(let orders, let index): splice(index, 0, orders)
        case .updated(let orders, let index): splice(index, orders.count, orders)
        case .removed(let orders, let index): splice(index, orders.count, [])
        }
    }
    private func splice(_ index: Int, _ removed: Int, _ orders: [Order]) {
        // GTK copies them.
        let rows = orders.map { strdup("#\($0.orderID)  \($0.count) × \($0.article)") }
        defer { for row in rows { free(row) } }
        var pointers = rows.map { UnsafePointer($0) } + [nil]
        gtk_string_list_splice(texts, guint(index), guint(removed), &pointers)
    }
    private func showTitle() { say(state == .active ? "\(count) orders" : "\(state)") }
    private func say(_ text: String) { gtk_window_set_title(as_window(window), text) }
}
