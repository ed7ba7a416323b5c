import CGTK
import MovingHouse

/// How the connection is, and what the log lacks.
final class StatusBar {
    let root: Widget
    private let dot: Widget
    private let text: Widget
    private let gap: Widget
    private let gapText: Widget

    init(dismiss: @escaping () -> Void) {
        dot = made(gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 0)).styled("dot").centred()
        text = label(name: "status")
        gapText = label(name: "gap")
        let sign = made(gtk_image_new_from_icon_name("dialog-warning-symbolic")).growing(across: true)
        gtk_widget_set_halign(sign, GTK_ALIGN_END)
        gap = row(
            6, sign, gapText,
            iconButton("window-close-symbolic", "remove", name: "gap-dismiss", tip: "Noticed", pressed: dismiss)
        ).styled("gap")
        root = row(10, dot, text, gap).styled("status")
    }
    func show(_ status: Status) {
        text.setText(status.text)
        gtk_widget_set_tooltip_text(text, status.text)
        for level in [Status.Level.connecting, .connected, .interrupted, .ended] {
            root.setStyle(level.rawValue, status.level == level)
        }
        gap.setVisible(status.gap != nil)
        gapText.setText(status.gap ?? "")
        gtk_widget_set_tooltip_text(gapText, status.gap)
    }
}
