import RelayTool

/// Tells a person at a terminal how far a long work is: on one line, which is written again and again, and is gone at the
/// end.
struct ProgressLine {
    /// What is over before says nothing.
    private static let patience = Duration.seconds(1)
    private static let pause = Duration.milliseconds(250)

    private let write: (ByteBuffer) -> Void
    private let began: ContinuousClock.Instant
    private var shownAt: ContinuousClock.Instant?

    /// - Parameter write: to the terminal, through its door.
    init(at time: ContinuousClock.Instant = .now, write: @escaping (ByteBuffer) -> Void) {
        (self.write, began) = (write, time)
    }

    /// Called often; most calls show nothing. `part` of the whole (0…1); nil: unknown.
    mutating func show(events: UInt64, part: Double?, at time: ContinuousClock.Instant = .now) {
        if time - (shownAt ?? began) < (shownAt == nil ? Self.patience : Self.pause) { return }
        shownAt = time
        let percent = part.map { ", \(Int((min(max($0, 0), 1) * 100).rounded(.down))) %" } ?? ""
        write(line(Quantity.count(events, "event") + percent))
    }
    mutating func end() {
        if shownAt != nil { write(line("")) }
        shownAt = nil
    }
    /// In the place of what the line has now.
    private func line(_ text: String) -> ByteBuffer {
        var line = ByteBuffer()
        line.append(byte: TerminalDoor.carriageReturn)
        line.append(TerminalCode("[K"))
        line.append(text)
        return line
    }
}
