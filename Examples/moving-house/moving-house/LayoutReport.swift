import CGTK

/// For tests: after each frame it writes where each named widget is and what it shows, a JSON object a line, in place of
/// what the file had before.
final class LayoutReport {
    private let content: WindowContent
    private let file: String

    init(of content: WindowContent, to file: String) {
        (self.content, self.file) = (content, file)
        // A window that is shown has a clock for its frames.
        let clock = UnsafeMutableRawPointer(gtk_widget_get_frame_clock(content.window))
        if let clock { connect(clock, "after-paint") { [weak self] in self?.write() } }
        write()
    }
    private func write() {
        let window = content.window
        var lines = [
            #"{"name":"window","x":0,"y":0,"width":\#(gtk_widget_get_width(window)),"#
                + #""height":\#(gtk_widget_get_height(window)),"isSensitive":true,"isHit":true,"style":"\#(content.isDark ? "dark" : "light")"}"#
        ]
        add(window, in: "window", &lines)
        // Replaces the file at once: a reader sees one frame or the next.
        g_file_set_contents(file, lines.joined(separator: "\n") + "\n", -1, nil)
    }
    private func add(_ widget: Widget, in outer: String, _ lines: inout [String]) {
        if gtk_widget_get_mapped(widget) == 0 { return }
        var (outer, bounds) = (outer, graphene_rect_t())
        if let name = given_name(widget), gtk_widget_compute_bounds(widget, content.window, &bounds) != 0 {
            var line =
                #"{"name":\#(Self.quoted(name)),"x":\#(bounds.origin.x),"y":\#(bounds.origin.y),"#
                + #""width":\#(bounds.size.width),"height":\#(bounds.size.height),"#
                + #""isSensitive":\#(gtk_widget_is_sensitive(widget) != 0),"isHit":\#(isHit(widget, bounds)),"#
                + #""outer":\#(Self.quoted(outer))"#
            if let text = shown_text(widget) { line += #","text":\#(Self.quoted(text))"# }
            if shown_share(widget) >= 0 { line += #","share":\#(shown_share(widget))"# }
            lines.append(line + #","style":\#(Self.quoted(Self.classes(of: widget)))}"#)
            outer = String(cString: name)
        }
        var child = gtk_widget_get_first_child(widget)
        while let present = child {
            add(present, in: outer, &lines)
            child = gtk_widget_get_next_sibling(present)
        }
    }
    /// Whether a click in its middle would reach it: it may be scrolled away, or lie below another.
    private func isHit(_ widget: Widget, _ bounds: graphene_rect_t) -> Bool {
        let (x, y) = (bounds.origin.x + bounds.size.width / 2, bounds.origin.y + bounds.size.height / 2)
        let hit = gtk_widget_pick(content.window, Double(x), Double(y), GTK_PICK_INSENSITIVE)
        return hit.map { $0 == widget || gtk_widget_is_ancestor($0, widget) != 0 } ?? false
    }
    private static func classes(of widget: Widget) -> String {
        guard let classes = gtk_widget_get_css_classes(widget) else { return "" }
        // The list and its texts are ours.
        defer { g_strfreev(classes) }
        var (names, index): ([String], Int) = ([], 0)
        while let name = classes[index] {
            names.append(String(cString: name))
            index += 1
        }
        return names.joined(separator: " ")
    }
    private static func quoted(_ text: UnsafePointer<CChar>) -> String { quoted(String(cString: text)) }
    private static func quoted(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "\\": result += "\\\(scalar)"
            case "\u{0}"..<" ": result += " "
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }
}
