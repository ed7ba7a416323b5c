import RelayCore
import RelayWire

/// Walks a running service's objects, without starting it.
struct PeerWalk {
    private static let mostObjects = 1_000
    private static let longestPath = 1_024

    let peer: any BusPeer
    let timeout: Duration

    /// Throws why its root does not answer; what else does not answer is left out.
    func catalogue(of name: String) throws(RelayError) -> Catalogue {
        var objects: [(path: String, node: IntrospectedNode)] = []
        var waiting = ["/"]
        while !waiting.isEmpty, objects.count < Self.mostObjects {
            let calls = waiting.map { path in
                MethodCall(
                    to: name, path: path, interface: "org.freedesktop.DBus.Introspectable", member: "Introspect")
            }
            let answers = peer.ask(calls, within: timeout)
            var next: [String] = []
            for (path, answer) in zip(waiting, answers) {
                if case .failure(let error) = answer, path == "/" { throw error }
                guard let xml = try? answer.get().read("s", { try $0.string() }),
                    let node = try? IntrospectionParser.parse(xml)
                else { continue }
                objects.append((path, node))
                next += node.children.map { (path == "/" ? "/" : path + "/") + $0 }
                    .filter { $0.utf8.count <= Self.longestPath }
            }
            waiting = Array(next.prefix(Self.mostObjects))
        }
        return Catalogue(objects)
    }
}
