import CGTK
import MovingHouse

/// An entry with a button, and the note below it: what was refused is said here.
final class CommandForm {
    let root: Widget
    private let entry: Widget
    private let button: Widget
    private let note: Widget
    private let hint: String
    private let send: (String) -> Void
    private var completed = 0
    private var isClearing = false

    /// - Parameter extra: stands between the entry and the button.
    init(
        _ name: String, title: String, placeholder: String, verb: String, hint: String, extra: Widget? = nil,
        edited: @escaping () -> Void, send: @escaping (String) -> Void
    ) {
        (self.hint, self.send) = (hint, send)
        entry = made(gtk_entry_new()).named("\(name)-entry").growing(across: true)
        gtk_entry_set_placeholder_text(as_entry(entry), placeholder)
        button = made(gtk_button_new_with_label(verb)).styled("suggested").named("\(name)-button")
        // Room for two lines, so that nothing moves below it when it has something to say.
        note = text(hint, "note", name: "\(name)-note", lines: 2).sized(-1, 32)
        let line = row(8, entry)
        if let extra { gtk_box_append(as_box(line), extra) }
        gtk_box_append(as_box(line), button)
        root = column(8, label(title, "heading"), line, note).styled("panel").growing(across: true)
        connect(button, "clicked") { [weak self] in self?.submit() }
        connect(entry, "activate") { [weak self] in self?.submit() }
        connect(entry, "changed") { [weak self] in if self?.isClearing == false { edited() } }
    }
    private func submit() { send(String(cString: gtk_editable_get_text(as_editable(entry)))) }

    func show(_ form: FormView) {
        button.setSensitive(!form.isBusy)
        note.show(form.note, else: hint)
        if form.completed == completed { return }
        // It was done: the entry is for the next one.
        (completed, isClearing) = (form.completed, true)
        gtk_editable_set_text(as_editable(entry), "")
        isClearing = false
    }
    func focus() { gtk_widget_grab_focus(entry) }
}

/// How many items a box is to hold: one of three buttons is pressed.
final class CapacityChoice {
    let root: Widget
    private let buttons: [(capacity: Int32, button: Widget)]

    init(_ capacities: [Int32], chosen: Int32) {
        root = row(0).styled("linked")
        buttons = capacities.map { capacity in
            let button = made(gtk_toggle_button_new_with_label("\(capacity)")).named("order-\(capacity)")
            gtk_widget_set_tooltip_text(button, "For \(capacity) items")
            return (capacity, button)
        }
        for (capacity, button) in buttons {
            gtk_box_append(as_box(root), button)
            if button != buttons[0].button {
                gtk_toggle_button_set_group(as_toggle_button(button), as_toggle_button(buttons[0].button))
            }
            if capacity == chosen { gtk_toggle_button_set_active(as_toggle_button(button), 1) }
        }
    }
    var chosen: Int32 {
        buttons.first { gtk_toggle_button_get_active(as_toggle_button($0.button)) != 0 }?.capacity ?? 0
    }
}
