/// An event with fields that had other names in an earlier version.
///
/// ```swift
/// extension JobPrinted: RenamedFields {
///     static let formerNames = ["label": "title"]
/// }
/// ```
///
/// Events that were written with the former name are read into the field. They are never written so: a subscriber that
/// knows only the former name has to be updated first. A former name belongs to nothing else for as long as such events
/// may come.
public protocol RenamedFields {
    /// The present name of a field by each former one. The type stays the same.
    static var formerNames: [String: String] { get }
}
