/// Which command a call is for, as a value. Those that were called last are found by comparing, which costs less than
/// two look-ups by hash, and what a call may be for besides.
struct CommandRoutes {
    private struct Route {
        let member: String
        let path: String
        let interface: String?
        let command: AnyExportedCommand
    }
    private let tree: ObjectTree
    private var routes: [Route] = []
    private var oldest = 0
    static let limit = 8

    init(_ tree: ObjectTree) { self.tree = tree }

    /// Nil: it is for no command.
    mutating func command(for call: IncomingCall) -> AnyExportedCommand? {
        for route in routes where route.member == call.member {
            if route.path == call.path && route.interface == call.interface { return route.command }
        }
        guard call.kind == .other, let interface = tree.interface(at: call.path),
            call.interface == nil || call.interface == interface.name, let command = interface.commands[call.member]
        else { return nil }
        let route = Route(member: call.member, path: call.path, interface: call.interface, command: command)
        if routes.count < Self.limit {
            routes.append(route)
        } else {
            routes[oldest] = route
            oldest = (oldest + 1) % Self.limit
        }
        return command
    }
}
