import CGTK
import MovingHouse

/// A box: its label, its load, what is in it, and what can be done with it.
final class BoxCard {
    private let held: HeldWidget
    var root: Widget { held.widget }
    private let title: Widget
    private let load: Widget
    private let bar: Widget
    private let list: Widget
    private let empty: Widget
    private let note: Widget
    private let dissolve: Widget
    private let perform: (MoveAction) -> Void
    private let id: Int64
    private var rows: [Int64: ItemRow] = [:]
    private var shown: BoxView?

    init(_ id: Int64, perform: @escaping (MoveAction) -> Void) {
        (self.id, self.perform) = (id, perform)
        let name = "box-\(id)"
        title = text("", "title", name: "\(name)-title")
        load = label("", "load", name: "\(name)-load")
        bar = made(gtk_level_bar_new()).named("\(name)-bar")
        // The colours are the style sheet's: none of GTK's own steps.
        for step in [GTK_LEVEL_BAR_OFFSET_LOW, GTK_LEVEL_BAR_OFFSET_HIGH, GTK_LEVEL_BAR_OFFSET_FULL] {
            gtk_level_bar_remove_offset_value(as_level_bar(bar), step)
        }
        list = column(0)
        empty = label("Empty", "faint")
        gtk_box_append(as_box(list), empty)
        note = text("", "note", name: "\(name)-note", lines: 3)
        dissolve = button("Dissolve", "quiet", name: "\(name)-dissolve") { perform(.dissolve(boxID: id)) }
        gtk_widget_set_tooltip_text(dissolve, "Moves what is in it to the other boxes, and removes it")
        gtk_widget_set_halign(dissolve, GTK_ALIGN_END)
        let number = label("Box \(id)", "faint").growing(across: true)
        held = HeldWidget(
            column(
                10, row(8, title, load), bar, scrolled(list).growing(down: true), note, row(8, number, dissolve)
            ).styled("card").named(name).sized(204, 240))
    }
    func show(_ box: BoxView) {
        if box == shown { return }
        shown = box
        title.setText(box.title)
        gtk_widget_set_tooltip_text(title, box.title)
        load.setText(box.load)
        gtk_level_bar_set_value(as_level_bar(bar), box.share)
        bar.setStyle("nearly", box.share >= 0.8 && box.share < 1)
        bar.setStyle("full", box.share >= 1)
        note.show(box.note)
        note.setVisible(box.note != nil)
        dissolve.setSensitive(!box.isBusy)
        empty.setVisible(box.items.isEmpty)
        let present = Set(box.items.map(\.id))
        for (id, row) in rows where !present.contains(id) {
            gtk_box_remove(as_box(list), row.root)
            rows[id] = nil
        }
        var last = empty
        for item in box.items {
            let row = rows[item.id] ?? add(item)
            gtk_box_reorder_child_after(as_box(list), row.root, last)
            row.show(item)
            last = row.root
        }
    }
    private func add(_ item: ItemView) -> ItemRow {
        let (id, perform) = (id, perform)
        let row = ItemRow(item) { perform(.takeOut(itemID: item.id, boxID: id)) }
        gtk_box_append(as_box(list), row.root)
        rows[item.id] = row
        return row
    }
}

/// An item in its box.
private final class ItemRow {
    private let held: HeldWidget
    var root: Widget { held.widget }
    private let remove: Widget

    init(_ item: ItemView, takeOut: @escaping () -> Void) {
        remove = iconButton(
            "window-close-symbolic", "remove", name: "item-\(item.id)-remove", tip: "Take it out", pressed: takeOut)
        let title = text(item.title, name: "item-\(item.id)")
        held = HeldWidget(row(6, title, remove).styled("item"))
    }
    func show(_ item: ItemView) { remove.setSensitive(!item.isBusy) }
}
