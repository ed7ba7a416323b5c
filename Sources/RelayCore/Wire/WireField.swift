/// A named field of an event, command, reply or nested structure.
public struct WireField: Hashable, Sendable, CustomStringConvertible {
    /// As in Swift, and as the argument's name on D-Bus.
    public let name: String
    /// What travels.
    public let type: WireType
    /// For messages to people; empty where only the shape is known. Not compared.
    public let swiftType: String

    package init(name: String, type: WireType, swiftType: String = "") {
        (self.name, self.type, self.swiftType) = (name, type, swiftType)
    }
    /// Reads a description, which may come from anywhere. Throws `.invalidArgument` with the place and the reason.
    package init(parsing description: String) throws(RelayError) {
        var parser = ShapeParser(description)
        self = try parser.wholeField()
    }
    /// `name:shape`.
    public var description: String { name + ":" + type.shape }

    package var isOptional: Bool { if case .optional = type { true } else { false } }

    public static func == (a: Self, b: Self) -> Bool { a.name == b.name && a.type == b.type }
    public func hash(into hasher: inout Hasher) {
        hasher.combine(name)
        hasher.combine(type)
    }
}
