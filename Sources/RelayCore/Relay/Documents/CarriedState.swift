import RelayWire

/// A document's next state as its service has it: what this program knows of it, and what it does not know.
///
/// A program of another version than the service's must not erase what it does not know. Fields that the service has
/// besides come from the state that the change is based on. So does a field that was not changed. A changed field with
/// parts that this program does not know is refused while those parts have values.
struct CarriedState: Sendable {
    let document: String
    /// As this program has the document.
    let ours: [WireField]
    /// As the service's contract has it.
    let theirs: [WireField]

    /// - Parameters:
    ///   - state: the next state, as this program has it.
    ///   - base: the state that it is based on, as the service sent it.
    ///   - fields: those of the base.
    /// - Returns: the next state as the service's contract has it.
    /// - Throws: `.schemaMismatch` with the field that would be lost.
    func merged(_ state: [UInt8], base: [UInt8], _ fields: [WireField]) throws(RelayError) -> [DBusValue] {
        let base = try WireTranslation(from: fields, to: theirs, .reading, of: document).translate(base)
        let (kept, next) = (try values(base, theirs), try values(state, ours))
        // By the rule for arguments, each field of ours has one of theirs, or has no value.
        let matches = WireTranslation.matches(from: ours, to: theirs)
        for index in ours.indices where !matches.contains(index) {
            _ = try WireTranslation(from: [ours[index]], to: [], .asking, of: document)
                .translate(try DBusValue.body([next[index]]))
        }
        var merged = kept
        for (index, match) in matches.enumerated() {
            guard let match else { continue }
            merged[index] = try field(next[match], ours[match], over: kept[index], theirs[index])
        }
        return merged
    }
    private func field(
        _ next: DBusValue, _ ours: WireField, over kept: DBusValue, _ theirs: WireField
    ) throws(RelayError) -> DBusValue {
        if ours.type == theirs.type { return next }
        let (next, kept) = (try DBusValue.body([next]), try DBusValue.body([kept]))
        let shown = try WireTranslation(from: [theirs], to: [ours], .reading, of: document).translate(kept)
        let hash = ArgumentHash([ours])
        if try hash.value(shown).present == hash.value(next).present { return try values(kept, [theirs])[0] }
        do throws(RelayError) {
            // What the service has and this program would not see, has no value.
            _ = try WireTranslation(from: [theirs], to: [ours], .asking, of: document).translate(kept)
        } catch {
            throw RelayError(
                .schemaMismatch,
                "\(document): this program changes '\(ours.name)', and would erase a part of it that it does not know "
                    + "(\(error.message)); nothing was sent: update this program", cause: error)
        }
        let sent = try WireTranslation(from: [ours], to: [theirs], .asking, of: document).translate(next)
        return try values(sent, [theirs])[0]
    }
    private func values(_ body: [UInt8], _ fields: [WireField]) throws(RelayError) -> [DBusValue] {
        try DBusValue.decode(signature: try Signature(fields.signature), body: body)
    }
}
