import FleetViews
import Glibc

/// The terminal: a screen of its own without a cursor; and as it was afterwards, also while the program stands still.
enum Screen {
    // Literals: their bytes are there for a signal's handler, too.
    private static let beginning: StaticString = "\u{1B}[?1049h\u{1B}[?25l\u{1B}[?7l\u{1B}[2J"
    private static let ending: StaticString = "\u{1B}[0m\u{1B}[?7h\u{1B}[?25h\u{1B}[?1049l"

    static func begin() {
        put(beginning)
        // Ctrl-Z: what a shell shows then is not to be drawn over.
        signal(SIGTSTP, stop)
        // Names the type, since a handler captures nothing: not even the type that is `Self` here.
        signal(SIGCONT) { _ in
            Screen.put(Screen.beginning)
            signal(SIGTSTP, Screen.stop)
        }
    }
    static func end() {
        signal(SIGTSTP, SIG_DFL)
        signal(SIGCONT, SIG_DFL)
        put(ending)
    }
    /// Only calls that a handler may make.
    private static let stop: @convention(c) (Int32) -> Void = { number in
        Screen.put(Screen.ending)
        signal(number, SIG_DFL)
        kill(getpid(), number)
    }
    private static func put(_ text: StaticString) { _ = write(STDOUT_FILENO, text.utf8Start, text.utf8CodeUnitCount) }

    static var size: (columns: Int, rows: Int) {
        var size = winsize()
        guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else {
            return (80, 24)
        }
        return (Int(size.ws_col), Int(size.ws_row))
    }
    static func draw(_ lines: [FleetView.Line]) {
        var text = "\u{1B}[H"
        for (index, line) in lines.enumerated() {
            text += (index > 0 ? "\r\n" : "") + color(line.style) + line.text + "\u{1B}[0m\u{1B}[K"
        }
        text += "\u{1B}[J"
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { write(STDOUT_FILENO, $0.baseAddress, $0.count) }
            if count < 0 && errno != EINTR { return }
            rest = rest.dropFirst(max(0, count))
        }
    }
    private static func color(_ style: FleetView.Line.Style) -> String {
        if getenv("NO_COLOR").map({ $0.pointee != 0 }) ?? false { return "" }
        return switch style {
        case .title: "\u{1B}[1m"
        case .heading: "\u{1B}[36m"
        case .warning: "\u{1B}[33m"
        case .faint: "\u{1B}[2m"
        case .plain: ""
        }
    }
}
