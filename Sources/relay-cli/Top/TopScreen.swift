/// Puts lines on a terminal: only whole pictures, and never faster than it takes them.
struct TopScreen {
    private let terminal: Terminal
    private let hasColor: Bool
    private(set) var channel: OutputChannel
    private var isDirty = true

    init(_ terminal: Terminal, hasColor: Bool) {
        (self.terminal, self.hasColor) = (terminal, hasColor)
        channel = OutputChannel(descriptor: terminal.output)
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
        channel.pending.append("\u{1B}[H")
        for (index, line) in lines.enumerated() {
            if index > 0 { channel.pending.append("\r\n") }
            if hasColor, let color = Self.color(line.style) {
                channel.pending.append(color)
                channel.pending.append(line.text)
                channel.pending.append(Color.reset)
            } else {
                channel.pending.append(line.text)
            }
            channel.pending.append("\u{1B}[K")
        }
        channel.pending.append("\u{1B}[J")
    }
    private static func color(_ style: TopView.Line.Style) -> StaticString? {
        switch style {
        case .title, .interface: Color.event
        case .heading: Color.field
        case .faint: Color.time
        case .plain: nil
        }
    }
}
