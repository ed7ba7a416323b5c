import CGTK
import Glibc
import MovingHouse
import RelayCore

/// What has happened, the newest first.
final class LogPanel {
    let root: Widget
    private let list: Widget
    private let empty: Widget
    /// The oldest first.
    private var rows: [(id: Int, row: Widget)] = []

    init() {
        list = column(0)
        empty = text("Nothing yet. What anybody does to the boxes is written here.", "faint", lines: 3)
        gtk_box_append(as_box(list), empty)
        root = column(10, label("What happened", "heading"), scrolled(list).growing(down: true)).styled("panel", "log")
            .sized(262, -1)
    }
    func show(_ lines: [LogLine]) {
        empty.setVisible(lines.isEmpty)
        let newest = rows.last?.id ?? 0
        for line in lines.reversed() where line.id > newest {
            let row = Self.line(line)
            gtk_box_prepend(as_box(list), row)
            rows.append((line.id, row))
        }
        // What the model no longer has goes from the other end.
        let oldest = lines.last?.id ?? .max
        while let first = rows.first, first.id < oldest {
            gtk_box_remove(as_box(list), first.row)
            rows.removeFirst()
        }
    }
    private static func line(_ line: LogLine) -> Widget {
        let dot = made(gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 0)).styled("dot", line.kind.rawValue)
        gtk_widget_set_valign(dot, GTK_ALIGN_START)
        let words = text(line.text, name: "log-\(line.id)", lines: 6)
        let time = label(line.time.map(Self.clock) ?? "", "faint", "time")
        gtk_widget_set_valign(time, GTK_ALIGN_START)
        return row(10, dot, words, time).styled("line")
    }
    /// Of the day, where the window is.
    private static func clock(_ time: Timestamp) -> String {
        var (seconds, parts) = (time_t(time.microseconds / 1_000_000), tm())
        localtime_r(&seconds, &parts)
        return [parts.tm_hour, parts.tm_min, parts.tm_sec].map { $0 < 10 ? "0\($0)" : "\($0)" }.joined(separator: ":")
    }
}
