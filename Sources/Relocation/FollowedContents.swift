import RelayCore

/// What a client knows of boxes and items: the pages of `Contents`, joined with the events of `Relocation1`.
///
/// ```swift
/// let following = try relay.follow(Relocation1.self, pages: Contents()) { pages in
///     self.contents = FollowedContents(pages)
/// } then: { event, stamp in
///     self.contents.apply(event.event, sequence: stamp.sequence)
/// } onFailure: { … }
/// ```
///
/// Each page names the sequence that it is of, and an event changes only what is of an earlier one. So pages and events
/// may come in any mixture: pages in their order, events in that of their sequences, all that follow the first page's
/// sequence. After a gap begin anew.
///
/// - Loss: none, with bounded memory. Events about ids that no page has listed yet are kept, up to 65,536. Past that
///   they are dropped, and pages that are older than the dropped ones are refused: `next` stays as it is, and the page
///   that is asked for again has seen them.
public struct FollowedContents: Sendable {
    /// By id.
    public private(set) var boxes: [Int64: Contents.Box] = [:]
    /// By id.
    public private(set) var items: [Int64: Contents.Item] = [:]
    /// Where the next page begins.
    public private(set) var next: Contents.Place?
    /// Whether the last page was added: until then the pages can differ in what they have seen.
    public private(set) var isWhole = false

    /// What a page covers: the ids up to these, joined with the events about them.
    private struct Range {
        let through: Contents.Place
        let sequence: UInt64
        var join = SnapshotJoin()
    }
    /// The run of the first page; the pages' sequences go on over runs.
    private var epoch: UInt64 = 0
    private var ranges: [Range] = []
    /// Events about ids that no page covers yet, and that no page has seen.
    private var early: [(event: any RelocationEvent, sequence: UInt64)] = []
    /// The last event that was dropped for lack of room: the next page has to have seen it.
    private var dropped: UInt64 = 0
    private let limit: Int

    public init() { self.init(limit: 65_536) }
    /// The state of all pages, in their order.
    public init(_ pages: [Contents.Reply]) {
        self.init()
        for page in pages { add(page) }
    }
    /// - Parameter limit: how many events are kept.
    package init(limit: Int) { self.limit = max(1, limit) }
    /// How many events wait for the page that covers their id.
    package var waiting: Int { early.count }

    /// Adds the page that follows those added before.
    ///
    /// - Returns: false without effect, after the last page, and for a page that is to be asked for again.
    @discardableResult public mutating func add(_ page: Contents.Reply) -> Bool {
        if isWhole || page.sequence < dropped { return false }
        for box in page.boxes { boxes[box.boxID] = box }
        for item in page.items { items[item.itemID] = item }
        if ranges.isEmpty { epoch = page.epoch }
        var range = Range(
            through: page.next ?? Contents.Place(boxID: .max, itemID: .max), sequence: page.sequence)
        range.join.snapshot(epoch: epoch, sequence: page.sequence)
        ranges.append(range)
        next = page.next
        isWhole = next == nil
        let waiting = early
        early = []
        // Pages that follow have seen what this one has.
        for (event, sequence) in waiting where sequence > page.sequence { apply(event, sequence: sequence) }
        return true
    }
    /// Applies an event, unless the page that covers its id has seen it. Keeps it until there is such a page.
    public mutating func apply(_ event: any RelocationEvent, sequence: UInt64) {
        // What failed changes nothing.
        guard let (id, kind) = Self.subject(of: event) else { return }
        if let index = ranges.firstIndex(where: { id <= $0.through[keyPath: kind] }) {
            let stamp = Stamp(
                epoch: epoch, sequence: sequence, previous: 0, publishedAt: Timestamp(microseconds: 0))
            if ranges[index].join.event(stamp) == .apply { change(event) }
        } else if sequence > ranges.last?.sequence ?? 0 {
            if early.count < limit { early.append((event, sequence)) } else { (early, dropped) = ([], sequence) }
        }
    }

    /// Which id an event is about, and of what.
    private static func subject(of event: any RelocationEvent) -> (id: Int64, kind: KeyPath<Contents.Place, Int64>)? {
        switch event {
        case let event as BoxProvisioned: (event.boxID, \.boxID)
        case let event as BoxRemoved: (event.boxID, \.boxID)
        case let event as ItemProvisioned: (event.itemID, \.itemID)
        case let event as ItemMoved: (event.itemID, \.itemID)
        case let event as ItemRemoved: (event.itemID, \.itemID)
        default: nil
        }
    }
    private mutating func change(_ event: any RelocationEvent) {
        switch event {
        case let event as BoxProvisioned:
            boxes[event.boxID] = Contents.Box(boxID: event.boxID, capacity: event.capacity, title: event.title)
        case let event as BoxRemoved: boxes[event.boxID] = nil
        case let event as ItemProvisioned:
            items[event.itemID] = Contents.Item(itemID: event.itemID, boxID: event.boxID, title: event.title)
        case let event as ItemMoved:
            guard let title = items[event.itemID]?.title else { return }
            items[event.itemID] = Contents.Item(itemID: event.itemID, boxID: event.toBoxID, title: title)
        case let event as ItemRemoved: items[event.itemID] = nil
        default: break
        }
    }
}
