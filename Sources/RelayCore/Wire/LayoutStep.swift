/// What comes next in a fixed layout.
enum LayoutStep: Sendable {
    case number(LayoutNumber)
    /// Numbers of one kind one after the other; an array on the wire.
    case array(LayoutNumber, count: Int)
    /// A structure begins: no bytes, but an alignment on the wire.
    case structure

    /// Bytes in memory.
    var size: Int {
        switch self {
        case .structure: 0
        case .number(let number): number.size
        case .array(let number, let count): number.size * count
        }
    }
    /// Bytes on the wire, without what aligns them.
    var wireSize: Int {
        switch self {
        case .structure: 0
        case .number(let number): number.wireSize
        case .array(let number, let count): number.wireSize * count
        }
    }
}
