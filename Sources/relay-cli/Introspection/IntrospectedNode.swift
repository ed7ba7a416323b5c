import RelayCore

/// What one object shows of itself.
struct IntrospectedNode: Equatable, Sendable {
    var interfaces: [IntrospectedInterface] = []
    /// Paths below this object, relative to it.
    var children: [String] = []
}

struct IntrospectedInterface: Equatable, Sendable {
    let name: String
    var events: [IntrospectedEvent] = []
    var commands: [IntrospectedCommand] = []
    var properties: [IntrospectedProperty] = []
}

/// An argument or a property's value.
struct IntrospectedField: Hashable, Sendable {
    let name: String
    let shape: Shape
}

/// A signal.
struct IntrospectedEvent: Equatable, Sendable {
    let name: String
    /// Without the stamp.
    let fields: [IntrospectedField]
    /// Whether its arguments end with sequence, previous and publishedAt.
    let isStamped: Bool

    /// DESIGN, "How an event travels": a signal's arguments are the event's fields in order, then its stamp.
    private static let stamp = ["sequence", "previous", "publishedAt"].map {
        IntrospectedField(name: $0, shape: .basic(.uint64))
    }

    init(name: String, arguments: [IntrospectedField]) {
        self.name = name
        isStamped = Array(arguments.suffix(3)) == Self.stamp
        fields = isStamped ? Array(arguments.dropLast(3)) : arguments
    }
    var signature: String { fields.map(\.shape.signature).joined() + (isStamped ? "ttt" : "") }
}

/// A method.
struct IntrospectedCommand: Equatable, Sendable {
    let name: String
    var arguments: [IntrospectedField] = []
    var reply: [IntrospectedField] = []
}

struct IntrospectedProperty: Equatable, Sendable {
    let value: IntrospectedField
    let isReadable: Bool
    let isWritable: Bool
}
