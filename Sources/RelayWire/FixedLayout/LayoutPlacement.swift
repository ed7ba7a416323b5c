/// Where Swift places the fields of a layout in memory, and where it leaves bytes empty: for the refusal of padding.
struct LayoutPlacement {
    indirect enum Node {
        case number(LayoutNumber, count: Int)
        case structure([(name: String, node: Node)])
    }
    /// Empty bytes in front of a field, or behind the last one.
    struct Hole: Equatable {
        let bytes: Int
        /// Nil: at the end of the value.
        let before: String?
        /// The number before it.
        let behind: String
    }
    private let fields: [(name: String, node: Node)]

    init(_ fields: [(name: String, node: Node)]) { self.fields = fields }

    /// Bytes of a value in memory, without what follows the last field.
    var size: Int { placed().end }
    /// Bytes of one element of an array of values.
    var stride: Int { Self.rounded(size, to: Self.alignment(.structure(fields))) }
    /// The first hole; nil for a layout without padding.
    var hole: Hole? {
        let (end, leaves, hole) = placed()
        if let hole { return hole }
        let padding = stride - end
        return padding > 0 ? Hole(bytes: padding, before: nil, behind: leaves.last ?? "") : nil
    }

    /// What is empty, and how to have it filled: each cure was tried on the layout.
    var advice: String? {
        guard let hole else { return nil }
        let bytes = "\(hole.bytes) \(hole.bytes == 1 ? "byte" : "bytes") of padding "
        let place = hole.before.map { "before '\($0)'" } ?? "behind '\(hole.behind)', the last field"
        return bytes + place + ": " + cures(of: hole).joined(separator: " or ")
    }
    private func cures(of hole: Hole) -> [String] {
        var cures: [String] = []
        if let wider = widened(hole) { cures.append("make '\(hole.behind)' a \(wider)") }
        if hole.before != nil {
            let moved = fields.filter { $0.name != hole.behind } + fields.filter { $0.name == hole.behind }
            let sorted = fields.enumerated().sorted { a, b in
                (-Self.alignment(a.element.node), a.offset) < (-Self.alignment(b.element.node), b.offset)
            }.map(\.element)
            if LayoutPlacement(moved).hole == nil {
                cures.append("move \(cures.isEmpty ? "'\(hole.behind)'" : "it") last")
            } else if LayoutPlacement(sorted).hole == nil {
                cures.append("put the wider fields first")
            }
        }
        return cures.isEmpty ? ["add a field of that size there"] : cures
    }
    /// The type by which the number before the hole would fill it.
    private func widened(_ hole: Hole) -> String? {
        guard case .number(let number, let count)? = node(at: hole.behind) else { return nil }
        if count > 1 {
            return hole.bytes % number.size == 0
                ? "FixedArray<\(count + hole.bytes / number.size), \(number.swiftName)>" : nil
        }
        let kind = number.text.utf8.first
        return LayoutNumber.allCases.first {
            $0.text.utf8.first == kind && $0.size == number.size + hole.bytes
        }?.swiftName
    }
    private func node(at path: String) -> Node? {
        var node = Node.structure(fields)
        for part in path.split(separator: ".") {
            guard case .structure(let fields) = node, let field = fields.first(where: { $0.name == part }) else {
                return nil
            }
            node = field.node
        }
        return node
    }

    // MARK: Placing, by Swift's rules for structures

    private func placed() -> (end: Int, leaves: [String], hole: Hole?) {
        var (leaves, hole): ([String], Hole?) = ([], nil)
        func place(_ node: Node, at offset: Int, _ path: String) -> Int {
            var end = Self.rounded(offset, to: Self.alignment(node))
            if end > offset, hole == nil { hole = Hole(bytes: end - offset, before: path, behind: leaves.last ?? "") }
            switch node {
            case .number(let number, let count):
                leaves.append(path)
                end += number.size * count
            case .structure(let fields):
                for field in fields {
                    end = place(field.node, at: end, path.isEmpty ? field.name : "\(path).\(field.name)")
                }
            }
            return end
        }
        let end = place(.structure(fields), at: 0, "")
        return (end, leaves, hole)
    }
    private static func alignment(_ node: Node) -> Int {
        switch node {
        case .number(let number, _): number.size
        case .structure(let fields): fields.map { alignment($0.node) }.max() ?? 1
        }
    }
    private static func rounded(_ offset: Int, to alignment: Int) -> Int {
        (offset + alignment - 1) / alignment * alignment
    }
}

extension LayoutNumber {
    fileprivate var swiftName: String {
        switch self {
        case .int8: "Int8"
        case .int16: "Int16"
        case .int32: "Int32"
        case .int64: "Int64"
        case .uint8: "UInt8"
        case .uint16: "UInt16"
        case .uint32: "UInt32"
        case .uint64: "UInt64"
        case .float: "Float"
        case .double: "Double"
        }
    }
}

extension LayoutPlacement {
    /// Of a layout's text, as `PatternDecoder` writes it; nil for any other.
    init?(layout: String) {
        var rest = Substring(layout)
        guard let fields = Self.fields(&rest), rest.isEmpty else { return nil }
        self.init(fields)
    }
    private static func fields(_ rest: inout Substring) -> [(name: String, node: Node)]? {
        var fields: [(name: String, node: Node)] = []
        repeat {
            let name = rest.prefix { $0 != ":" }
            rest = rest.dropFirst(name.count + 1)
            guard let node = node(&rest) else { return nil }
            fields.append((String(name), node))
        } while take(",", &rest)
        return fields
    }
    private static func node(_ rest: inout Substring) -> Node? {
        if take("(", &rest) {
            guard let fields = fields(&rest), take(")", &rest) else { return nil }
            return .structure(fields)
        }
        let bytes = Array(rest.utf8.prefix(2))
        guard bytes.count == 2, let number = LayoutNumber(bytes[0], bytes[1]) else { return nil }
        rest = rest.dropFirst(2)
        guard take("*", &rest) else { return .number(number, count: 1) }
        let digits = rest.prefix { $0.isNumber }
        rest = rest.dropFirst(digits.count)
        return Int(digits).map { .number(number, count: $0) }
    }
    private static func take(_ character: Character, _ rest: inout Substring) -> Bool {
        if rest.first != character { return false }
        rest.removeFirst()
        return true
    }
}
