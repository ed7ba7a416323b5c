/// The bytes that a `PatternDecoder` has given out, over all its nested types.
final class PatternRecord {
    /// The type that was to be registered.
    let root: String
    private(set) var bytes: [UInt8] = []
    private(set) var lastField = ""
    private var count = 0

    init(root: String) { self.root = root }

    /// Nil for what is no number.
    func number<T>(_ type: T.Type, field: String) -> (T, layout: String)? {
        guard type is any (FixedWidthInteger & BitwiseCopyable).Type || type is Double.Type || type is Float.Type else {
            return nil
        }
        count += 1
        lastField = field
        let size = MemoryLayout<T>.size
        // Never a NaN's: the highest bytes stay below 0x40.
        let pattern = (0..<size).map { UInt8(truncatingIfNeeded: (count * 16 + $0) & 0x3F | 0x01) }
        bytes += pattern
        let isSigned = (type as? any FixedWidthInteger.Type)?.isSigned
        // Numbers of this size, for which every byte is valid.
        let value = pattern.withUnsafeBytes { $0.loadUnaligned(as: T.self) }
        return (value, "\(isSigned.map { $0 ? "i" : "u" } ?? "f")\(size)")
    }
}
