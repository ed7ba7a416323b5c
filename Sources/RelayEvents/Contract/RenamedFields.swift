/// A type with fields that had other names in an earlier version: an event, a command, its reply or progress, a
/// document, or a struct within one of them.
///
/// ```swift
/// extension JobPrinted: RenamedFields {
///     static let formerNames = ["label": "title"]
/// }
/// ```
///
/// Values with the former name are decoded into the renamed field. New values are written with the present name only.
/// Do not reuse a former name while values with it may still arrive.
public protocol RenamedFields {
    /// Maps each former name of a field to its present name. The type stays the same.
    static var formerNames: [String: String] { get }
}
