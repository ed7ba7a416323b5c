public import RelayEvents

/// What people do in the window.
public enum TrackViewEvent: Event, Equatable {
    case fileChosen(path: String)
    case nameEntered(trackID: Int64, name: String)
}

/// What a window shows: texts, ready to be drawn.
public struct TrackViewData: Sendable, Equatable {
    public struct Row: Sendable, Equatable {
        public let trackID: Int64
        public let title: String
        public let lines: [String]
        public init(trackID: Int64, title: String, lines: [String]) {
            (self.trackID, self.title, self.lines) = (trackID, title, lines)
        }
    }
    public let rows: [Row]
    /// For a line at the window's edge; nil: all is well.
    public let trouble: String?
    public init(rows: [Row], trouble: String? = nil) { (self.rows, self.trouble) = (rows, trouble) }
}
@MainActor public protocol TrackView: AnyObject {
    func show(_ data: TrackViewData)
}

/// The window's content, without a toolkit. It publishes what people do, and shows what it is given. It knows nothing else.
@MainActor public final class TrackPanel: TrackView {
    private let publisher: EventPublisher
    private let print: (String) -> Void
    private var shown = TrackViewData(rows: [])

    public init(_ publisher: EventPublisher, print: @escaping (String) -> Void) {
        (self.publisher, self.print) = (publisher, print)
    }

    public func choose(file path: String) { publisher.publish(TrackViewEvent.fileChosen(path: path)) }
    public func enter(name: String, for trackID: Int64) {
        publisher.publish(TrackViewEvent.nameEntered(trackID: trackID, name: name))
    }

    /// Draws what differs from what is shown.
    public func show(_ data: TrackViewData) {
        for row in data.rows {
            let present = shown.rows.first { $0.trackID == row.trackID }
            if row == present { continue }
            print("#\(row.trackID) \(row.title)")
            if row.lines != present?.lines { for line in row.lines { print("   \(line)") } }
        }
        if let trouble = data.trouble, trouble != shown.trouble { print("! \(trouble)") }
        shown = data
    }
}
