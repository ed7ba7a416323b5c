/// Why a text is no signature.
package struct SignatureFault: Error, Hashable, Sendable {
    package let reason: String
    init(_ reason: String) { self.reason = reason }
}
