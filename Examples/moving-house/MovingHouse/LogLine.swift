public import RelayCore
import Relocation

/// An event in words.
public struct LogLine: Equatable, Sendable, Identifiable {
    public enum Kind: String, Sendable { case added, moved, removed, refused, gap }
    /// Counts the lines.
    public let id: Int
    public let kind: Kind
    /// When the service published it; nil for a gap.
    public let time: Timestamp?
    public let text: String
}

/// The last lines of the log, and the names that they need.
struct EventLog: Sendable {
    /// How many lines are kept.
    static let length = 200
    /// The newest first.
    private(set) var lines: [LogLine] = []
    private var count = 0
    private var boxes: [Int64: String] = [:]
    private var items: [Int64: String] = [:]

    /// What boxes and items are called at this moment. Names of what has gone are forgotten with it.
    mutating func learn(_ contents: FollowedContents) {
        boxes = contents.boxes.mapValues(\.title)
        items = contents.items.mapValues(\.title)
    }
    mutating func add(_ gap: Gap) { add(.gap, nil, "\(gap)") }
    mutating func add(_ event: Relocation1, at time: Timestamp) {
        switch event {
        case .boxProvisioned(let event):
            boxes[event.boxID] = event.title
            add(.added, time, "\(box(event.boxID)) stands ready for \(event.capacity) items")
        case .boxRemoved(let event):
            add(.removed, time, "\(box(event.boxID)) is dissolved")
            boxes[event.boxID] = nil
        case .boxRemovalFailed(let event): add(.refused, time, "\(box(event.boxID)) stays: \(event.reason)")
        case .boxItemsRedistributionFailed(let event):
            add(.refused, time, "No room elsewhere for what is in \(box(event.boxID))")
        case .itemProvisioned(let event):
            items[event.itemID] = event.title
            add(.added, time, "\(item(event.itemID)) went into \(box(event.boxID))")
        case .itemMoved(let event):
            add(.moved, time, "\(item(event.itemID)) moved from \(box(event.fromBoxID)) to \(box(event.toBoxID))")
        case .itemDistributionFailed(let event): add(.refused, time, "No box had room for “\(event.itemTitle)”")
        case .itemRemoved(let event):
            add(.removed, time, "\(item(event.itemID)) was taken out")
            items[event.itemID] = nil
        case .itemRemovalFailed(let event):
            add(.refused, time, "\(item(event.itemID)) was not taken out of \(box(event.boxID))")
        }
    }
    private mutating func add(_ kind: LogLine.Kind, _ time: Timestamp?, _ text: String) {
        count += 1
        lines.insert(LogLine(id: count, kind: kind, time: time, text: text), at: 0)
        if lines.count > Self.length { lines.removeLast() }
    }
    private func box(_ id: Int64) -> String { boxes[id].map { "“\($0)”" } ?? "box \(id)" }
    private func item(_ id: Int64) -> String { items[id].map { "“\($0)”" } ?? "item \(id)" }
}
