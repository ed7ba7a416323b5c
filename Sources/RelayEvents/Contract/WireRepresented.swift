/// A type of another library that travels as one of ours, and not as its own `Codable` conformance has it.
///
/// Looked for by a cast, so nothing needs to be registered: a type conforms where its library is linked.
package protocol WireRepresented: Codable {
    associatedtype Carried: Codable

    /// A value that can be sent.
    static var wireExample: Self { get }
    /// Throws `.invalidArgument` for a value that cannot be sent.
    func carried() throws(RelayError) -> Carried
    /// Throws `.invalidArgument` for what is no value of the type.
    init(carried: Carried) throws(RelayError)
}
