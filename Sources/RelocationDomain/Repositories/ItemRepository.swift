/// The items, as a unit of work sees them. Whether they fit is for the domain services to know.
///
/// Queries are mutating for stores that read through a statement of their transaction.
public protocol ItemRepository: ~Copyable {
    /// Adds an item under an id higher than any before; ids are never used again.
    ///
    /// Throws `RelayError` `.storageFull` if there is none left, `.notFound` if the box is unknown.
    mutating func addItem(title: Title, boxID: Int64) throws -> Item
    /// Nil if there is no such item.
    mutating func item(_ id: Int64) throws -> Item?
    /// The items of a box, by rising id; none if the box is unknown.
    mutating func items(inBox boxID: Int64) throws -> [Item]
    /// Puts an item into another box. Throws `RelayError` `.notFound` if either is unknown.
    mutating func moveItem(_ id: Int64, toBox boxID: Int64) throws
    /// Throws `RelayError` `.notFound` if there is no such item.
    mutating func removeItem(_ id: Int64) throws
}
