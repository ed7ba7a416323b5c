import RelayCore
import RelayWire

/// What a document's state has changed since the last one that was shown.
struct DocumentChange {
    private var signature = ""
    private var last: [DBusValue] = []

    /// The places of the fields that differ from the last state; nil where there is none to compare with.
    mutating func take(_ state: Envelope) -> Set<Int>? {
        guard let types = try? Signature(state.signature),
            let values = try? DBusValue.decode(signature: types, body: state.body)
        else {
            (signature, last) = ("", [])
            return nil
        }
        // Without the stamp.
        let fields = Array(values.dropLast(3))
        defer { (signature, last) = (state.signature, fields) }
        guard signature == state.signature else { return nil }
        return Set(fields.indices.filter { fields[$0] != last[$0] })
    }
}
