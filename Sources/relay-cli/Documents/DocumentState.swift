import RelayCore
import RelayTool
import RelayWire

/// What a document was at one moment.
struct DocumentState: Equatable, Sendable {
    let interface: String
    let name: String
    let version: DocumentVersion
    /// Of the structure of its fields.
    let signature: String
    let fields: [UInt8]

    /// As the entry of a stream, with this time, in microseconds since the Unix epoch.
    func envelope(at time: UInt64) -> Envelope {
        let stamp = Stamp(
            epoch: version.epoch, sequence: version.sequence, previous: 0, publishedAt: Timestamp(microseconds: time))
        var body = WireWriter()
        body.append(fields)
        stamp.write(into: &body)
        return Envelope(
            interface: interface, name: name,
            signature: signature.dropFirst().dropLast() + WireSchema.stampSignature, body: body.bytes, stamp: stamp)
    }

    /// Asks for the present states. A service that leaves meanwhile is reported as away, and shown from now on.
    static func all(
        _ documents: [DocumentTarget], asking caller: any ServiceCaller, timeout: Duration
    ) async -> WatchQueue.Answer {
        var (states, notes): ([DocumentState], [String]) = ([], [])
        for document in documents {
            do {
                states.append(document.state(try await document.snapshot(asking: caller, timeout: timeout)))
            } catch {
                let reason = CLIFailure(ofCall: error).message
                notes.append("\(document.event.name) is shown from its next change on: \(reason)")
            }
        }
        return .states(states, notes: notes)
    }
}
