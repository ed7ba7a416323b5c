/// What the window shows, as a value: there is no widget in it and no bus.
public struct MoveView: Equatable, Sendable {
    public var status = Status()
    /// By rising id; nil until the service has said.
    public var boxes: [BoxView]?
    /// The newest first.
    public var log: [LogLine] = []
    public var order = FormView()
    public var pack = FormView()
    public init() {}

    /// "3 boxes, 7 of 25 places taken".
    public var summary: String {
        guard let boxes else { return "" }
        if boxes.isEmpty { return "Nothing is packed yet" }
        let (items, places) = boxes.reduce((0, 0)) { ($0.0 + $1.items.count, $0.1 + $1.capacity) }
        return "\(boxes.count == 1 ? "1 box" : "\(boxes.count) boxes"), \(items) of \(places) places taken"
    }
}

/// The bar at the window's lower edge.
public struct Status: Equatable, Sendable {
    public enum Level: String, Sendable { case connecting, connected, interrupted, ended }
    public var level = Level.connecting
    public var text = ""
    /// What the log lacks, until somebody has taken note of it.
    public var gap: String?
    public init() {}
}

/// A box with its load.
public struct BoxView: Equatable, Sendable, Identifiable {
    public let id: Int64
    public let title: String
    public let capacity: Int
    /// By rising id.
    public let items: [ItemView]
    /// Whether it is being dissolved.
    public let isBusy: Bool
    /// Why it stays, or why an item stays in it.
    public let note: Note?

    /// From 0 to 1.
    public var share: Double { capacity > 0 ? min(1, Double(items.count) / Double(capacity)) : 0 }
    public var load: String { "\(items.count) of \(capacity)" }
}

/// A thing in a box.
public struct ItemView: Equatable, Sendable, Identifiable {
    public let id: Int64
    public let title: String
    /// Whether it is being taken out.
    public let isBusy: Bool
}

/// An entry with its button.
public struct FormView: Equatable, Sendable {
    public var isBusy = false
    /// How often it has done what was asked: then the entry is for the next one.
    public var completed = 0
    public var note: Note?
    public init() {}
}

/// How a command ended, shown beside the control that sent it.
public struct Note: Equatable, Sendable {
    public enum Kind: String, Sendable {
        case done
        /// The service refused, in a way that the contract declares.
        case refused
        /// The command or its reply did not arrive.
        case failed
    }
    public let kind: Kind
    public let text: String
    public init(_ kind: Kind, _ text: String) { (self.kind, self.text) = (kind, text) }
}
