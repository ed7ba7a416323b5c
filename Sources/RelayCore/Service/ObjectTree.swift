/// The objects of a service and their interfaces, as a value: what introspection shows, and which object a call is for.
struct ObjectTree: Sendable {
    private let interfaces: [String: ServedInterface]
    /// What every object has besides its own interface.
    static let common = [
        Stream1.description, StandardInterfaces.introspectable, StandardInterfaces.properties,
        StandardInterfaces.peer,
    ]
    static let commonForFolders = [StandardInterfaces.introspectable, StandardInterfaces.peer]

    init(_ interfaces: [ServedInterface]) {
        self.interfaces = Dictionary(interfaces.map { ($0.path, $0) }, uniquingKeysWith: { first, _ in first })
    }
    func interface(at path: String) -> ServedInterface? { interfaces[path] }
    /// Whether there is an object, or one below.
    func exists(_ path: String) -> Bool { interfaces[path] != nil || path == "/" || !children(of: path).isEmpty }

    /// The next parts of the paths below.
    func children(of path: String) -> [String] {
        let prefix = path == "/" ? "/" : path + "/"
        let parts = interfaces.keys.filter { $0.hasPrefix(prefix) }.compactMap { other in
            other.dropFirst(prefix.count).split(separator: "/").first.map(String.init)
        }
        return Set(parts).sorted()
    }
    func introspection(of path: String) -> String {
        var shown = Self.commonForFolders
        if let interface = interfaces[path] { shown = [interface.description] + Self.common }
        return IntrospectionXML.render(shown, children: children(of: path))
    }
}
