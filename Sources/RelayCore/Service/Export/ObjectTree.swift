import RelayWire

/// The objects of a service and their interfaces, as a value: what introspection shows, and which object a call is for.
struct ObjectTree: Sendable {
    /// What is at one path: an object, one with the contract's id behind it, or what lies above objects.
    final class Place: Sendable {
        /// Nil above the objects.
        let interface: ExportedInterface?
        /// A call came for this very contract. Only the interface's commands are here: the path of everything else is
        /// the object's own.
        let isChecked: Bool
        /// The body of the answer to `Introspect`. Rendered once, as it never changes: a caller that floods costs no
        /// more than by any other question.
        let introspection: [UInt8]

        fileprivate init(
            _ interface: ExportedInterface?, isChecked: Bool = false, _ shown: [InterfaceDescription],
            children: [String] = []
        ) {
            (self.interface, self.isChecked) = (interface, isChecked)
            var body = WireWriter()
            // Names that were checked, and far less than a message holds: nothing here can be refused.
            try? body.string(IntrospectionXML.render(shown, children: children))
            introspection = body.bytes
        }
    }
    let streams: [PublishedStream]
    /// What every object has besides its own interface.
    static let common = [
        Stream1.description, StandardInterfaces.introspectable, StandardInterfaces.properties,
        StandardInterfaces.peer,
    ]
    static let commonForFolders = [StandardInterfaces.introspectable, StandardInterfaces.peer]
    private let places: [String: Place]

    init(_ interfaces: [ExportedInterface], _ contract: ContractID) {
        let objects = Dictionary(interfaces.map { ($0.path, $0) }, uniquingKeysWith: { first, _ in first })
        var children: [String: Set<String>] = ["/": []]
        for path in objects.keys {
            var above = "/"
            for part in path.split(separator: "/") {
                children[above, default: []].insert(String(part))
                above += above == "/" ? "\(part)" : "/\(part)"
            }
            children[above, default: []].formUnion([])
        }
        var places: [String: Place] = [:]
        for (path, children) in children {
            let shown = objects[path].map { [$0.description] + Self.common } ?? Self.commonForFolders
            places[path] = Place(objects[path], shown, children: children.sorted())
        }
        // No children of their objects: a tool's tree would show each interface twice, and the id is another one soon.
        for (path, interface) in objects {
            let commands = InterfaceDescription(
                interface.name, methods: interface.description.methods, annotations: interface.description.annotations)
            places[contract.path(of: path)] = Place(interface, isChecked: true, [commands] + Self.commonForFolders)
        }
        (self.places, streams) = (places, interfaces.map(\.stream))
    }
    /// What is at a path; nil where there is no object, and none below.
    func place(at path: String) -> Place? { places[path] }
    func interface(at path: String) -> ExportedInterface? { places[path]?.interface }
}
