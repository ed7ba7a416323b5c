/// How one value of a sender's type becomes one of a receiver's.
indirect enum TranslationStep: Sendable {
    /// The same on both sides: a node of the sender's plan.
    case copy(Int32)
    case array(TranslationStep, alignment: Int)
    case optional(TranslationStep, alignment: Int)
    /// The key's node, and the value.
    case dictionary(Int32, TranslationStep)
    case structure(TranslatedFields)
    case tagged(TranslatedCases)

    var isCopy: Bool { if case .copy = self { true } else { false } }
}

/// The fields of a structure.
struct TranslatedFields: Sendable {
    enum Part: Sendable {
        /// Of the sender's field at this place.
        case from(Int, TranslationStep)
        /// An optional that the sender does not have.
        case nothing(alignment: Int)
    }
    /// The sender's, in its order.
    let nodes: [Int32]
    /// The receiver's, in its order.
    let parts: [Part]
    /// Optionals that only the sender has, which have to be nil: the place, and the path for messages.
    let unsent: [(place: Int, path: String)]

    /// The same fields in the same order.
    var isCopy: Bool {
        parts.count == nodes.count
            && parts.enumerated().allSatisfy { index, part in
                if case .from(index, .copy) = part { true } else { false }
            }
    }
}

/// The cases of an enum.
struct TranslatedCases: Sendable {
    enum Payload: Sendable {
        case copy
        /// The receiver has no such case.
        case unknown
        case fields(TranslatedFields, signature: Signature)
    }
    /// The sender's enum, and its node.
    let type: Int32
    let node: Int32
    /// By the sender's cases.
    let payloads: [Payload]
    /// The receiver has a place for cases that it does not know.
    let isOpen: Bool
    let path: String
}

/// What messages call the two sides.
struct TranslationWords: Sendable {
    let name: String
    let rule: WireTranslation.Rule

    private var sender: String { rule == .reading ? "the sender" : "this program" }
    private var receiver: String { rule == .reading ? "this program" : "the service" }

    func retyped(_ path: String, _ theirs: WireType, _ ours: WireType) -> RelayError {
        let reads = rule == .reading ? "reads" : "takes"
        return mismatch(
            path, "\(sender) sends '\(theirs.shape)', \(receiver) \(reads) '\(ours.shape)'",
            "give the changed field or interface a new name")
    }
    func missing(_ path: String, _ ours: WireType) -> RelayError {
        let newer = rule == .reading ? "update the sender" : "update this program"
        return mismatch(
            path, "\(sender) has none, \(receiver) needs '\(ours.shape)'", "make it optional, or \(newer)")
    }
    func surplus(_ path: String, _ theirs: WireType) -> RelayError {
        mismatch(
            path, "\(sender) sends '\(theirs.shape)', \(receiver) has none", "make it optional, or update the service")
    }
    func lost(_ path: String) -> RelayError {
        mismatch(
            path, "it has a value, and \(receiver) has no such field",
            "leave it nil, or update the service; nothing was done")
    }
    func unknownCase(_ path: String, _ name: UnsafeRawBufferPointer) -> RelayError {
        let shown = BusNames.quoted(String(decoding: name, as: UTF8.self))
        let remedy =
            rule == .reading ? "update it, or make its enum an OpenTaggedEnum" : "update the service; nothing was done"
        return mismatch(path, "\(sender) sends the case \(shown), which \(receiver) does not know", remedy)
    }
    private func mismatch(_ path: String, _ what: String, _ remedy: String) -> RelayError {
        RelayError(.schemaMismatch, "\(name), field '\(path)': \(what); \(remedy)")
    }
}
