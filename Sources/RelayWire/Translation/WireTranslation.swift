/// Makes the bytes of a sender's fields those of a receiver's: here of equal fields alone.
package final class WireTranslation: Sendable {
    package enum Rule: Sendable { case reading, asking }
    package let isIdentity: Bool

    package init(
        from sender: [WireField], to receiver: [WireField], _ rule: Rule, of name: String
    ) throws(RelayError) {
        isIdentity = true
        if sender != receiver { throw RelayError(.schemaMismatch, "\(name): other fields") }
    }
    package func translate(_ body: [UInt8]) throws(RelayError) -> [UInt8] { body }
    package static func matches(from sender: [WireField], to receiver: [WireField]) -> [Int?] {
        receiver.map { field in sender.firstIndex { $0.name == field.name } }
    }
}
