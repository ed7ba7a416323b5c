/// The bytes that a `PatternDecoder` has given out, over all its nested types.
final class PatternRecord {
    /// The type that was to be registered.
    let root: String
    private(set) var bytes: [UInt8] = []
    private(set) var lastField = ""
    /// Numbers and arrays: a signature of 255 characters has no more than that.
    private var fields = 0

    init(root: String) { self.root = root }

    /// Nil for what is no number.
    func number<T>(_ type: T.Type, field: String) -> (T, layout: String)? {
        guard let number = LayoutNumber(type) else { return nil }
        let pattern = take(number, 1, field)
        // A number of this size, for which every byte is valid.
        return (pattern.withUnsafeBytes { $0.loadUnaligned(as: T.self) }, number.text)
    }
    func array<A: FixedLayoutArray>(_ type: A.Type, _ number: LayoutNumber, field: String) -> (A, layout: String) {
        var array = A.zeros
        let pattern = take(number, A.length, field)
        withUnsafeMutableBytes(of: &array) { $0.copyBytes(from: pattern) }  // As many: `A` is so many numbers.
        return (array, "\(number.text)*\(A.length)")
    }
    /// Begins with a byte that no other field begins with, so that two that lie in each other's place are seen. Never a NaN's
    /// bytes, nor an infinity's: the highest one of a wide number stays below 0x40.
    private func take(_ number: LayoutNumber, _ count: Int, _ field: String) -> [UInt8] {
        fields += 1
        lastField = field
        let size = number.size
        let pattern = (0..<size * count).map { index in
            let byte = index % size == 0 ? fields + index / size : (5 * fields + index) & 0x3F | 0x01
            return UInt8(truncatingIfNeeded: byte)
        }
        bytes += pattern
        return pattern
    }
}
