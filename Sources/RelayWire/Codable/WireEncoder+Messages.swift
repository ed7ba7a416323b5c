// What is thrown.
extension WireEncoder {
    /// An error about this value, remembered: swallowing it gains nothing.
    func problem(_ reason: String) -> RelayError {
        remembered(
            RelayError(
                .invalidArgument, "\(path) cannot be sent: \(reason); encode(to:) must write what init(from:) reads"))
    }
    /// Nothing was written, and the value that is on may be another one: not remembered.
    func over() -> RelayError {
        RelayError(
            .invalidArgument, "\(typeName) cannot be sent: it writes to a container whose turn is not now, or never is")
    }
    @inline(never) func remembered(_ error: any Error) -> RelayError {
        let first = failure ?? described(error)
        failure = first
        return first
    }
    func described(_ error: any Error) -> RelayError {
        switch error {
        case let error as RelayError where error.message.hasPrefix(typeName): error  // It has its place already.
        case let error as RelayError: RelayError(error.code, "\(path): \(error.message)", cause: error)
        default: RelayError(.invalidArgument, "\(path) refuses to be encoded: \(error)", cause: error)
        }
    }
    /// `Type.field.field[]`, as far as the encoding got.
    var path: String {
        (outer + [top]).reduce(into: typeName) { text, frame in
            switch frame.state {
            case .structure:
                let node = plan.nodes[Int(frame.node)]
                if frame.next > node.first { text += "." + plan.fields[Int(frame.next) - 1].name }
            case .array: text += "[]"
            case .pairs, .keyedPairs: text += "{}"
            case .fresh, .single, .tagged: break
            }
        }
    }
    static func name(_ kind: WirePlan.Kind) -> String {
        switch kind {
        case .array: "an array"
        case .dictionary: "a dictionary"
        case .structure: "a structure"
        case .optional: "an optional of another type"
        case .tagged: "an enum with payloads"
        default: "a \(kind)"
        }
    }
}
