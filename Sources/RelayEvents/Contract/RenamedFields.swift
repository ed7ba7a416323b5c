/// An event with fields that had other names in an earlier version.
///
/// ```swift
/// extension JobPrinted: RenamedFields {
///     static let formerNames = ["label": "title"]
/// }
/// ```
///
/// Events that were written with the former name are read into the field. Events are written with the present name
/// only, so first update the subscribers that know only the former name. Do not reuse a former name while such events
/// may still arrive.
public protocol RenamedFields {
    /// Maps each former name of a field to its present name. The type stays the same.
    static var formerNames: [String: String] { get }
}
