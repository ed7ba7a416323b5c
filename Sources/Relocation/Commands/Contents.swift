public import RelayCore

/// Asks for all boxes and items, a page at a time: a query, which changes nothing and cannot be refused.
///
/// Boxes come first, by rising id, then items, by rising id. Ask again with `after` set to the reply's `next` until
/// that is nil:
///
///     var contents = FollowedContents()
///     repeat { contents.add(try await relay.call(Contents(after: contents.next))) } while !contents.isWhole
///
/// - Order: each page is of one moment, which it names: its boxes and items are as they were right after the event
///   `sequence`. Between two pages something may have happened: `FollowedContents` joins them with the events.
/// - Loss: none. What an id belongs to never changes, so that each page covers its range of ids, whatever was moved
///   meanwhile.
public struct Contents: RelocationCommand, PagedQuery {
    public static let about = About(
        "Returns boxes, then items, a page at a time; changes nothing.",
        fields: [
            "after": "the 'next' of the page before; left out for the first page",
            "limit": .unit("boxes and items", "at most so many; left out for as many as fit"),
        ],
        reply: [
            "epoch": "the run that the sequence belongs to",
            "sequence": "of the last event that the page has taken into account",
            "boxes": "by rising id", "boxes.capacity": .unit("items"), "items": "by rising id",
            "next": "where the next page begins; nothing on the last one",
        ])
    /// Where the page begins: the `next` of the page before; nil for the first page.
    public let after: Place?
    /// At most so many boxes and items together, and at least one; nil for as many as fit. A page may have fewer: only
    /// `next` says whether there are more.
    public let limit: UInt32?
    public init(after: Place? = nil, limit: UInt32? = nil) { (self.after, self.limit) = (after, limit) }
    public func next(after page: Reply) -> Self? { page.next.map { Contents(after: $0, limit: limit) } }

    /// What has been listed: the boxes and the items up to these ids.
    public struct Place: Codable, Hashable, Sendable {
        public let boxID: Int64
        public let itemID: Int64
        public init(boxID: Int64, itemID: Int64) { (self.boxID, self.itemID) = (boxID, itemID) }
    }
    public struct Reply: SnapshotReply, Hashable {
        /// The run of the service that the sequence belongs to.
        public let epoch: UInt64
        /// The last event that the page has taken into account: later ones apply on top.
        public let sequence: UInt64
        /// By rising id.
        public let boxes: [Box]
        /// By rising id.
        public let items: [Item]
        /// Where the next page begins; nil on the last.
        public let next: Place?
        public init(epoch: UInt64, sequence: UInt64, boxes: [Box], items: [Item], next: Place?) {
            (self.epoch, self.sequence, self.boxes) = (epoch, sequence, boxes)
            (self.items, self.next) = (items, next)
        }
    }
    public struct Box: Codable, Hashable, Sendable {
        public let boxID: Int64
        public let capacity: Int32
        public let title: String
        public init(boxID: Int64, capacity: Int32, title: String) {
            (self.boxID, self.capacity, self.title) = (boxID, capacity, title)
        }
    }
    public struct Item: Codable, Hashable, Sendable {
        public let itemID: Int64
        /// The box that it is in. That box may be missing from the pages if it was removed between two of them.
        public let boxID: Int64
        public let title: String
        public init(itemID: Int64, boxID: Int64, title: String) {
            (self.itemID, self.boxID, self.title) = (itemID, boxID, title)
        }
    }
}
