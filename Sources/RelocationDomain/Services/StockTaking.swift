public import Relocation

/// Makes pages of what is in which box.
public struct StockTaking: Sendable {
    /// A page has at most so many boxes and items, and so many bytes: well below a message's limit, and read within a
    /// moment.
    static let (rowLimit, byteLimit) = (2_048, 512 << 10)
    /// What a box or an item costs of a reply beside its title: at most.
    private static let overhead = 32

    /// Where the page begins.
    public let place: Contents.Place
    private let limit: Int

    public init(_ request: Contents) {
        place = request.after ?? Contents.Place(boxID: 0, itemID: 0)
        limit = min(max(1, Int(request.limit ?? .max)), Self.rowLimit)
    }
    /// So many boxes and items are needed to make the page: one more than it may have shows whether it is the last.
    public var count: Int { limit + 1 }

    /// The page.
    ///
    /// - Parameter stock: what begins at `place`, up to `count` boxes and items.
    public func reply(_ stock: Stock) -> Contents.Reply {
        var room = (rows: limit, bytes: Self.byteLimit)
        func fits(_ title: Title) -> Bool {
            let cost = title.text.utf8.count + Self.overhead
            if room.rows == 0 || room.bytes < cost { return false }
            room = (room.rows - 1, room.bytes - cost)
            return true
        }
        let boxes = stock.boxes.prefix { fits($0.title) }
        let items = boxes.count < stock.boxes.count ? [] : stock.items.prefix { fits($0.title) }
        let isLast = boxes.count == stock.boxes.count && items.count == stock.items.count
        return Contents.Reply(
            epoch: stock.epoch, sequence: stock.sequence,
            boxes: boxes.map { Contents.Box(boxID: $0.id, capacity: $0.capacity.rawValue, title: $0.title.text) },
            items: items.map { Contents.Item(itemID: $0.id, boxID: $0.boxID, title: $0.title.text) },
            next: isLast
                ? nil
                : Contents.Place(boxID: boxes.last?.id ?? place.boxID, itemID: items.last?.id ?? place.itemID))
    }
}
