// What is thrown.
extension WireDecoder {
    func nested(_ id: UInt64) -> any Error {
        if top.id != id { return over() }
        return problem("it nests containers by hand; declare a structure or an array instead")
    }
    func inherited(_ id: UInt64) -> any Error {
        top.id == id ? problem("class inheritance has no D-Bus form") : over()
    }
    /// The value that is read now may be another one, on another thread: nothing of it is looked at.
    func over() -> any Error {
        RelayError(
            .invalidArgument, "\(typeName) cannot be read: it reads from a container whose turn is not now, or is over")
    }

    func problem(_ reason: String) -> any Error {
        RelayError(.invalidArgument, "\(path) cannot be read: \(reason)")
    }
    func described(_ error: any Error) -> RelayError {
        switch error {
        case let error as RelayError: error
        case let fault as WireFault: fault.relayError("\(path), a body,")
        default: RelayError(.invalidArgument, "\(path) refuses its value: \(Self.reason(error))", cause: error)
        }
    }
    private static func reason(_ error: any Error) -> String {
        switch error as? DecodingError {
        case .dataCorrupted(let context)?, .typeMismatch(_, let context)?, .valueNotFound(_, let context)?,
            .keyNotFound(_, let context)?:
            context.debugDescription
        default: "\(error)"
        }
    }
    /// `Type.field.field[]`, as far as the decoding got.
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
}
