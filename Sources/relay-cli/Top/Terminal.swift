import Glibc
import RelayTool

/// Puts lines on a terminal: only whole pictures, and never faster than it takes them.
struct TopScreen {
    private let terminal: Terminal
    private let hasColor: Bool
    private(set) var channel: OutputChannel
    private var isDirty = true

    init(_ terminal: Terminal, hasColor: Bool) {
        (self.terminal, self.hasColor) = (terminal, hasColor)
        channel = OutputChannel(descriptor: terminal.output, isTerminal: true)
    }

    mutating func setNeedsDrawing() { isDirty = true }

    /// Draws if that is due, and writes what the terminal takes.
    mutating func update(_ lines: () -> [TopView.Line]) -> OutputChannel.Outcome {
        if isDirty && channel.isEmpty {
            isDirty = false
            compose(lines())
        }
        return channel.write()
    }
    private mutating func compose(_ lines: [TopView.Line]) {
        channel.pending.append(TerminalCode("[H"))
        for (index, line) in lines.enumerated() {
            if index > 0 { channel.pending.append("\r\n") }
            if hasColor, let color = Self.color(line.style) {
                channel.pending.append(color)
                channel.pending.append(line.text)
                channel.pending.append(Color.reset)
            } else {
                channel.pending.append(line.text)
            }
            channel.pending.append(TerminalCode("[K"))
        }
        channel.pending.append(TerminalCode("[J"))
    }
    private static func color(_ style: TopView.Line.Style) -> TerminalCode? {
        switch style {
        case .title, .interface: Color.event
        case .heading: Color.field
        case .faint: Color.time
        case .selected: TerminalCode("[7m")
        case .plain: nil
        }
    }
}

/// A terminal that a program draws on: without echo and lines, on a screen of its own; and as it was, afterwards.
final class Terminal {
    /// Of the terminal that a descriptor is; nil: it is none, or does not say.
    static func columns(of descriptor: Int32) -> Int? {
        var size = winsize()
        guard isatty(descriptor) == 1, ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else {
            return nil
        }
        return Int(size.ws_col)
    }

    /// Another screen, no cursor, no lines that go on by themselves.
    private static let begin = "\u{1B}[?1049h\u{1B}[?25l\u{1B}[?7l\u{1B}[2J"
    /// First of all, an end to whatever sequence was cut short.
    private static let end = "\u{18}\u{1B}[0m\u{1B}[?7h\u{1B}[?25h\u{1B}[?1049l"
    /// For a terminal that takes nothing, in milliseconds.
    private static let patience: Int32 = 1_000

    let output: Int32
    /// Where keys come from; -1: from nowhere.
    let keys: Int32
    private var saved: termios?

    /// - Parameters:
    ///   - output: a terminal.
    ///   - input: heeded if it is one, too.
    init(output: Int32, input: Int32) { (self.output, keys) = (output, isatty(input) == 1 ? input : -1) }
    deinit { leave() }

    private var device: Int32 { keys >= 0 ? keys : output }

    /// Also when it was entered before, and others have changed it meanwhile, as a shell does with a program that was stopped.
    func enter() {
        var settings = termios()
        if tcgetattr(device, &settings) == 0 {
            if saved == nil { saved = settings }
            // Signals stay what they are: ctrl-C and ctrl-Z come as such.
            settings.c_lflag &= ~tcflag_t(ICANON | ECHO)
            withUnsafeMutableBytes(of: &settings.c_cc) { characters in
                // C's array is a tuple in Swift; both are indices into it.
                characters[Int(VMIN)] = 1
                characters[Int(VTIME)] = 0
            }
            _ = tcsetattr(device, TCSANOW, &settings)
        }
        write(Self.begin)
    }
    /// Once after each `enter`; otherwise without effect.
    func leave() {
        guard var settings = saved else { return }
        saved = nil
        write(Self.end)
        _ = tcsetattr(device, TCSANOW, &settings)
    }

    /// In cells; what most are where it does not tell.
    var size: (columns: Int, rows: Int) {
        var size = winsize()
        guard ioctl(output, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else { return (80, 24) }
        return (Int(size.ws_col), Int(size.ws_row))
    }

    /// Of these constants alone: what others wrote goes through the channel's door.
    private func write(_ text: String) {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            var room = pollfd(fd: output, events: Int16(POLLOUT), revents: 0)
            let ready = poll(&room, 1, Self.patience)
            if ready < 0 && errno == EINTR { continue }
            if ready <= 0 || room.revents & Int16(POLLOUT) == 0 { return }
            let count = rest.withUnsafeBytes { Glibc.write(output, $0.baseAddress, $0.count) }
            if count < 0 && errno != EINTR && errno != EAGAIN { return }
            rest = rest.dropFirst(max(0, count))
        }
    }
}
