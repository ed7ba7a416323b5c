/// An event with fields that had other names in an earlier version.
///
/// ```swift
/// extension JobPrinted: RenamedFields {
///     static let formerNames = ["label": "title"]
/// }
/// ```
///
/// Events with the former name are decoded into the renamed field. New events are written with the present name only,
/// so first update subscribers that know only the former name. Do not reuse a former name while events with it may
/// still arrive.
public protocol RenamedFields {
    /// Maps each former name of a field to its present name. The type stays the same.
    static var formerNames: [String: String] { get }
}
