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
    /// The boxes with room, those with the fewest items first, then by rising id: at most `count`, and not `boxID`.
    mutating func leastLoaded(_ count: Int, except boxID: Int64?) throws -> [BoxLoad]
    /// Removes a box, which must be there and empty: `RelayError` `.notFound` or `.conflict` otherwise.
    mutating func removeBox(_ id: Int64) throws
}
