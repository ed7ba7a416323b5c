package import RelayCore

extension MirrorSnapshot {
    /// As messages, to be appended one after the other. Throws `.tooLarge` for more than they can carry.
    ///
    /// - Parameter header: of any part.
    package func messages(_ header: MirrorHeader) throws(RelayError) -> [MirrorMessage] {
        let bytes = try bytes()
        let size = MirrorMessage.bodySize
        let parts = max(1, (bytes.count + size - 1) / size)
        if parts > MirrorHeader.mostParts {
            throw RelayError(
                .tooLarge,
                "what mirrors need beside the events has \(bytes.count) bytes, with \(table.runs.count) runs and "
                    + "\(documents.count) documents; at most \(MirrorHeader.mostParts * size) can be mirrored")
        }
        return (0..<parts).map { part in
            var header = header
            (header.part, header.parts) = (UInt16(part), UInt16(parts))
            return MirrorMessage(header, body: Array(bytes[part * size..<min(bytes.count, (part + 1) * size)]))
        }
    }
}

/// Puts the parts of snapshots together, as they come by.
package struct SnapshotParts: Hashable, Sendable {
    private var header: MirrorHeader?
    private var number: UInt64 = 0
    private var body: [UInt8] = []

    package init() {}

    /// Returns the bytes of a snapshot whose last part this is, if all parts before it came right before it.
    ///
    /// - Parameter message: nil for one that is foreign, and may come between parts: it ends what was begun.
    package mutating func take(_ message: MirrorMessage?, at number: UInt64) -> [UInt8]? {
        guard let message, message.header.kind == .snapshot else {
            reset()
            return nil
        }
        if message.header.part == 0 {
            reset()
        } else if !follows(message.header, number) {
            reset()
            return nil
        }
        body += message.bytes[MirrorHeader.size...]
        if message.header.part + 1 < message.header.parts {
            (header, self.number) = (message.header, number)
            return nil
        }
        defer { reset() }
        return body
    }
    private func follows(_ next: MirrorHeader, _ number: UInt64) -> Bool {
        guard let header, number == self.number + 1, next.part == header.part + 1 else { return false }
        return next.parts == header.parts && next.writer == header.writer && next.epoch == header.epoch
            && next.last == header.last && next.journal == header.journal
    }
    private mutating func reset() { (header, body) = (nil, []) }
}
