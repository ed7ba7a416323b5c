/// Describes an interface, an event or a command, for people who use tools.
///
/// Tools read it from the introspection data. (A running program has no doc comments.)
///
/// ```swift
/// struct OrderBox: Command {
///     static let about = About(
///         "Orders a box; replies with its id.",
///         fields: ["label": "1 to 200 characters", "capacity": .unit("items", "5, 10 or 20")],
///         reply: ["boxID": "the new box's"])
/// }
/// ```
///
/// Registering the interface checks the names of the fields. Name a field of a nested struct by its path, such as
/// `"boxes.capacity"`. The path skips arrays, dictionaries and optionals.
public struct About: Hashable, Sendable, ExpressibleByStringLiteral {
    /// What a field means, and its unit.
    public struct Field: Hashable, Sendable, ExpressibleByStringLiteral {
        /// One sentence; empty for none.
        package let text: String
        /// The unit, such as `bytes`, `µs` or `°C`; nil for a field without one.
        package let unit: String?

        /// A field without a unit.
        ///
        /// - Parameter text: what the field means.
        public init(stringLiteral text: String) { self.init(text, unit: nil) }
        private init(_ text: String, unit: String?) { (self.text, self.unit) = (text, unit) }
        /// A field with a unit.
        ///
        /// - Parameter unit: the unit, such as `bytes` or `µs`.
        /// - Parameter text: what the field means.
        public static func unit(_ unit: String, _ text: String = "") -> Self { Self(text, unit: unit) }
    }
    /// One or two sentences; empty for none.
    package let text: String
    /// An event's fields, or a command's arguments.
    package let fields: [String: Field]
    /// The fields of a command's reply.
    package let reply: [String: Field]

    /// A description.
    ///
    /// - Parameter text: one or two sentences.
    /// - Parameter fields: an event's fields, or a command's arguments, by name.
    /// - Parameter reply: the fields of a command's reply, by name.
    public init(_ text: String, fields: [String: Field] = [:], reply: [String: Field] = [:]) {
        (self.text, self.fields, self.reply) = (text, fields, reply)
    }
    /// A description without fields.
    ///
    /// - Parameter text: one or two sentences.
    public init(stringLiteral text: String) { self.init(text) }
    /// No description.
    package static let nothing = Self("")
}
