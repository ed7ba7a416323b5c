/// What an interface, event or command says about itself to people, in its contract.
///
/// Tools show it, since doc comments are gone when a program runs: it is part of the introspection data.
///
/// ```swift
/// struct OrderBox: Command {
///     static let about = About(
///         "Orders a box; replies with its id.",
///         fields: ["label": "1 to 200 characters", "capacity": .unit("items", "5, 10 or 20")],
///         reply: ["boxID": "the new box's"])
/// ```
///
/// Names of fields are checked when the interface is registered. A field of a nested struct is named by its way:
/// `"boxes.capacity"`; arrays, dictionaries and optionals on the way are left out.
public struct About: Hashable, Sendable, ExpressibleByStringLiteral {
    /// What a field means, and what it is counted in.
    public struct Field: Hashable, Sendable, ExpressibleByStringLiteral {
        /// One sentence; empty for none.
        public let text: String
        /// `bytes`, `µs`, `°C`; nil for what has none.
        public let unit: String?

        /// A field without a unit.
        ///
        /// - Parameter text: what it means.
        public init(stringLiteral text: String) { self.init(text, unit: nil) }
        private init(_ text: String, unit: String?) { (self.text, self.unit) = (text, unit) }
        /// A field that is counted in something.
        ///
        /// - Parameter unit: what one is: `bytes`, `µs`.
        /// - Parameter text: what the field means.
        public static func unit(_ unit: String, _ text: String = "") -> Self { Self(text, unit: unit) }
    }
    /// One or two sentences; empty for none.
    public let text: String
    /// An event's fields, or a command's arguments.
    public let fields: [String: Field]
    /// The fields of a command's reply.
    public let reply: [String: Field]

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
    /// Nothing.
    public static let nothing = Self("")
}
