import RelayCore
import RelayTool
import RelayWire

/// What one object shows of itself.
struct IntrospectedNode: Equatable, Sendable {
    var interfaces: [IntrospectedInterface] = []
    /// Paths below this object, relative to it.
    var children: [String] = []
}

struct IntrospectedInterface: Equatable, Sendable {
    let name: String
    /// What its contract says about it; empty for nothing.
    var about = ""
    var events: [IntrospectedEvent] = []
    var commands: [IntrospectedCommand] = []
    var properties: [IntrospectedProperty] = []
}

/// An argument or a property's value.
struct IntrospectedField: Hashable, Sendable {
    let name: String
    let shape: Shape
    var notes = FieldNotes()
}

/// What a contract says about an argument.
struct FieldNotes: Hashable, Sendable {
    struct Note: Hashable, Sendable {
        /// A sentence; empty for none.
        var text = ""
        /// `bytes`; empty for none.
        var unit = ""
    }
    var note = Note()
    /// The same of fields in it, by the way to them from there.
    var inner: [String: Note] = [:]

    subscript(path: String) -> Note {
        get { path.isEmpty ? note : inner[path] ?? Note() }
        set { if path.isEmpty { note = newValue } else { inner[path] = newValue } }
    }
}

/// A signal.
struct IntrospectedEvent: Equatable, Sendable {
    let name: String
    /// What its contract says about it; empty for nothing.
    var about = ""
    /// Without the stamp.
    let fields: [IntrospectedField]
    /// Whether its arguments end with sequence, previous and publishedAt.
    let isStamped: Bool

    /// DESIGN, "How an event travels": a signal's arguments are the event's fields in order, then its stamp.
    private static let stamp = ["sequence", "previous", "publishedAt"].map {
        IntrospectedField(name: $0, shape: .basic(.uint64))
    }

    init(name: String, arguments: [IntrospectedField], about: String = "") {
        (self.name, self.about) = (name, about)
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
    /// What its contract says about it; empty for nothing.
    var about = ""
    /// The refusals that it declares, in their order.
    var failures: [Failure] = []

    struct Failure: Equatable, Sendable {
        let name: String
        let message: String
    }
}

struct IntrospectedProperty: Equatable, Sendable {
    let value: IntrospectedField
    let isReadable: Bool
    let isWritable: Bool
}
