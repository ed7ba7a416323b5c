/// Makes the bytes of a sender's fields those of a receiver's: by name, whatever is nested in them.
///
/// Fields are matched by their names, and by the former names of either side. The order does not matter. What only the
/// receiver has is nil if it is optional. Everything else about a field has to be the same: an optional is another type
/// than what it wraps. Cases of enums are matched by name.
///
/// It is compiled once per sender. What can be known to be wrong is refused then.
package final class WireTranslation: Sendable {
    /// What becomes of a field that the receiver does not have.
    package enum Rule: Sendable {
        /// It is skipped: events, replies, progress and documents.
        case reading
        /// It is refused, unless it is nil: the arguments of commands.
        case asking
    }
    /// Of the event or command, for messages.
    package let name: String
    package let rule: Rule
    /// The sender's bytes are the receiver's.
    package let isIdentity: Bool
    /// The sender's.
    let plan: WirePlan
    let root: TranslationStep

    /// - Parameters:
    ///   - sender: the fields of the bytes that are translated; they may come from anywhere.
    ///   - receiver: the fields that are wanted.
    ///   - rule: what becomes of a field that the receiver does not have.
    ///   - name: the event or command, for messages.
    /// Throws `.schemaMismatch` with the field, both shapes and the remedy.
    package init(
        from sender: [WireField], to receiver: [WireField], _ rule: Rule, of name: String
    ) throws(RelayError) {
        do throws(RelayError) { _ = try WireSchema(fields: sender) } catch {
            throw RelayError(.schemaMismatch, "\(name): the sender's fields are none: \(error.message)", cause: error)
        }
        (self.name, self.rule) = (name, rule)
        plan = WirePlan(sender)
        let compiler = TranslationCompiler(words: TranslationWords(name: name, rule: rule), rule: rule, plan: plan)
        root = try compiler.step(from: .structure(sender), to: .structure(receiver), plan.root, "")
        isIdentity = root.isCopy
    }

    /// Which of the sender's fields each of the receiver's is.
    package static func matches(from sender: [WireField], to receiver: [WireField]) -> [Int?] {
        TranslationCompiler.matches(sender, receiver)
    }
    /// Appends the receiver's fields, and leaves the reader behind the sender's. On an error the writer is as before.
    ///
    /// Throws `.schemaMismatch` with the field for a case that the receiver lacks and for a value that it would lose,
    /// and `.invalidArgument` with the place for bytes that are not the sender's fields.
    package func translate(_ reader: inout WireReader, into writer: inout WireWriter) throws(RelayError) {
        let mark = writer.count
        var run = TranslationRun(plan, reader, TranslationWords(name: name, rule: rule))
        swap(&writer, &run.writer)
        defer { swap(&writer, &run.writer) }
        do {
            try run.body(root)
            reader.position = run.reader.position
        } catch {
            run.writer.truncate(to: mark)
            switch error {
            case let error as RelayError: throw error
            case let fault as WireFault: throw fault.relayError("\(name), a body,")
            default: throw RelayError(.internalFailure, "\(name): \(error)", cause: error)
            }
        }
    }
    /// A whole body, whose stamp behind the fields is kept if it has one.
    package func translate(
        _ body: UnsafeRawBufferPointer, stamped: Bool = false, into writer: inout WireWriter
    ) throws(RelayError) {
        let mark = writer.count
        var reader = WireReader(body)
        try translate(&reader, into: &writer)
        do throws(WireFault) {
            if stamped {
                try reader.align(8)
                let stamp = try reader.raw(WireSchema.stampSize)
                writer.align(8)
                writer.append(stamp)
            }
            try reader.finish()
        } catch {
            writer.truncate(to: mark)
            throw error.relayError("\(name), a body,")
        }
    }
    package func translate(_ body: [UInt8]) throws(RelayError) -> [UInt8] {
        if isIdentity { return body }
        var writer = WireWriter(capacity: body.count + 64)
        let result = body.withUnsafeBytes { bytes in
            Result { () throws(RelayError) in try translate(bytes, into: &writer) }
        }
        try result.get()
        return writer.takeBytes()
    }
}
