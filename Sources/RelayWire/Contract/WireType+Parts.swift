extension WireType {
    /// The lists of fields within, each with the way to it that a path has.
    var parts: [(path: String, fields: [WireField])] {
        switch self {
        case .array(let inner), .optional(let inner), .dictionary(_, let inner): inner.parts
        case .structure(let fields): [("", fields)]
        case .tagged(let variants): variants.map { ("\($0.name).", $0.fields) }
        default: []
        }
    }
}
