/// The boxes, as a unit of work sees them.
///
/// Queries are mutating for stores that read through a statement of their transaction.
public protocol BoxRepository: ~Copyable {
    /// Adds a box under an id higher than any before; ids are never used again.
    ///
    /// Throws `RelayError` `.storageFull` if there is none left.
    mutating func addBox(title: Title, capacity: BoxCapacity) throws -> Box
    /// Nil if there is no such box.
    mutating func box(_ id: Int64) throws -> Box?
    /// All boxes, by rising id.
    mutating func boxes() throws -> [Box]
    /// All boxes with the number of their items, by rising id.
    mutating func boxLoads() throws -> [BoxLoad]
    /// Removes a box, which must be there and empty: `RelayError` `.notFound` or `.conflict` otherwise.
    mutating func removeBox(_ id: Int64) throws
}
