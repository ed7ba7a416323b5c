import CGTK
import MovingHouse

/// A widget as GTK has it. It lives as long as its parent has it; the views here hold the outermost one of theirs.
typealias Widget = UnsafeMutablePointer<GtkWidget>

/// A widget that is held, whether or not it has a parent.
struct HeldWidget: ~Copyable {
    let widget: Widget
    init(_ widget: Widget) {
        g_object_ref_sink(widget)
        self.widget = widget
    }
    deinit { g_object_unref(widget) }
}

/// What a signal calls. GTK holds it, and releases it with the widget.
private final class Handler {
    let body: () -> Void
    init(_ body: @escaping () -> Void) { self.body = body }
}

/// Has a signal of an object call a closure, as long as the object lives. The closure holds its owner weakly: the owner
/// holds the widget.
func connect(_ object: UnsafeMutableRawPointer, _ signal: String, _ body: @escaping () -> Void) {
    // GTK gives this reference back by `release`.
    let handler = Unmanaged.passRetained(Handler(body)).toOpaque()
    connect_callback(
        object, signal, { Unmanaged<Handler>.fromOpaque($0!).takeUnretainedValue().body() }, handler,
        { handler, _ in Unmanaged<Handler>.fromOpaque(handler!).release() })
}

func column(_ spacing: Int32, _ children: Widget...) -> Widget { box(GTK_ORIENTATION_VERTICAL, spacing, children) }
func row(_ spacing: Int32, _ children: Widget...) -> Widget { box(GTK_ORIENTATION_HORIZONTAL, spacing, children) }
private func box(_ orientation: GtkOrientation, _ spacing: Int32, _ children: [Widget]) -> Widget {
    let box = made(gtk_box_new(orientation, spacing))
    for child in children { gtk_box_append(as_box(box), child) }
    return box
}
func label(_ text: String = "", _ classes: String..., name: String? = nil) -> Widget {
    let label = made(gtk_label_new(text)).styled(classes).named(name)
    gtk_label_set_xalign(as_label(label), 0)
    gtk_label_set_ellipsize(as_label(label), PANGO_ELLIPSIZE_END)
    return label
}
/// A label that takes the width that there is, and asks for none: a long text must not widen the window.
func text(_ text: String = "", _ classes: String..., name: String? = nil, lines: Int32 = 1) -> Widget {
    let label = label(text, name: name).styled(classes).growing(across: true)
    gtk_label_set_max_width_chars(as_label(label), 1)
    if lines > 1 {
        gtk_label_set_wrap(as_label(label), 1)
        gtk_label_set_wrap_mode(as_label(label), PANGO_WRAP_WORD_CHAR)
        gtk_label_set_lines(as_label(label), lines)
        gtk_label_set_yalign(as_label(label), 0)
    }
    return label
}
func button(_ text: String, _ classes: String..., name: String, pressed: @escaping () -> Void) -> Widget {
    let button = made(gtk_button_new_with_label(text)).styled(classes).named(name)
    connect(button, "clicked", pressed)
    return button
}
func iconButton(_ icon: String, _ classes: String..., name: String, tip: String, pressed: @escaping () -> Void)
    -> Widget
{
    let button = made(gtk_button_new_from_icon_name(icon)).styled(classes).named(name)
    gtk_widget_set_tooltip_text(button, tip)
    connect(button, "clicked", pressed)
    return button
}
func scrolled(_ child: Widget) -> Widget {
    let scrolled = made(gtk_scrolled_window_new())
    gtk_scrolled_window_set_policy(as_scrolled_window(scrolled), GTK_POLICY_NEVER, GTK_POLICY_AUTOMATIC)
    gtk_scrolled_window_set_child(as_scrolled_window(scrolled), child)
    return scrolled
}
/// GTK's constructors return a widget or end the program.
func made(_ widget: Widget?) -> Widget { widget! }

extension Widget {
    func styled(_ classes: [String]) -> Widget {
        for name in classes { gtk_widget_add_css_class(self, name) }
        return self
    }
    func styled(_ classes: String...) -> Widget { styled(classes) }
    /// For tests and for the style sheet.
    func named(_ name: String?) -> Widget {
        if let name { gtk_widget_set_name(self, name) }
        return self
    }
    func growing(across: Bool = false, down: Bool = false) -> Widget {
        if across { gtk_widget_set_hexpand(self, 1) }
        if down { gtk_widget_set_vexpand(self, 1) }
        return self
    }
    func sized(_ width: Int32, _ height: Int32) -> Widget {
        gtk_widget_set_size_request(self, width, height)
        return self
    }
    func centred() -> Widget {
        gtk_widget_set_halign(self, GTK_ALIGN_CENTER)
        gtk_widget_set_valign(self, GTK_ALIGN_CENTER)
        return self
    }
    /// A label's text.
    func setText(_ text: String) { gtk_label_set_text(as_label(self), text) }
    func setStyle(_ name: String, _ isOn: Bool) {
        if isOn { gtk_widget_add_css_class(self, name) } else { gtk_widget_remove_css_class(self, name) }
    }
    func setSensitive(_ isOn: Bool) { gtk_widget_set_sensitive(self, isOn ? 1 : 0) }
    func setVisible(_ isOn: Bool) { gtk_widget_set_visible(self, isOn ? 1 : 0) }
}

extension Widget {
    /// Shows how a command ended, or a hint.
    func show(_ note: Note?, else hint: String = "") {
        setText(note?.text ?? hint)
        gtk_widget_set_tooltip_text(self, note?.text)
        for kind in [Note.Kind.done, .refused, .failed] { setStyle(kind.rawValue, note?.kind == kind) }
    }
}

/// Has a key, such as `F12` or `<Control>n`, call a closure wherever in the window the focus is.
func connectKey(_ window: Widget, _ key: String, _ body: @escaping () -> Void) {
    // GTK gives this reference back when the window goes.
    let handler = Unmanaged.passRetained(Handler(body)).toOpaque()
    let action = gtk_callback_action_new(
        { _, _, handler in
            Unmanaged<Handler>.fromOpaque(handler!).takeUnretainedValue().body()
            return 1
        }, handler, { Unmanaged<Handler>.fromOpaque($0!).release() })
    let shortcut = gtk_shortcut_new(gtk_shortcut_trigger_parse_string(key), action)
    let controller = gtk_shortcut_controller_new()
    // The controller has the shortcut from here on, and the window the controller.
    gtk_shortcut_controller_add_shortcut(controller, shortcut)
    gtk_widget_add_controller(window, controller)
}
