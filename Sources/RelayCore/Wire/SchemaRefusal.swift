/// Why a type cannot cross processes: found at registration, never at the first publish.
public struct SchemaRefusal: Error, Hashable, Sendable, CustomStringConvertible {
    /// The type that was to be registered.
    public let type: String
    /// The way to the field: `shelves[].dimensions{value}.height?`. Empty for the type itself.
    public let field: String
    /// What D-Bus cannot carry, and what to do instead.
    public let reason: String
    public var description: String { field.isEmpty ? "\(type): \(reason)" : "\(type), field '\(field)': \(reason)" }
}
