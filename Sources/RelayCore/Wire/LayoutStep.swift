/// What comes next in a fixed layout.
enum LayoutStep: UInt8, Sendable {
    case int8, int16, int32, int64, uint8, uint16, uint32, uint64, float, double
    /// A structure begins: no bytes, but an alignment on the wire.
    case structure

    /// Bytes in memory.
    var size: Int {
        switch self {
        case .structure: 0
        case .int8, .uint8: 1
        case .int16, .uint16: 2
        case .int32, .uint32, .float: 4
        case .int64, .uint64, .double: 8
        }
    }
}
