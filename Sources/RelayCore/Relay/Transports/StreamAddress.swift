/// Where a stream is on the bus.
struct StreamAddress: Hashable, Sendable {
    let service: String
    let interface: String
    let path: String

    init(_ service: String, _ interface: String) {
        (self.service, self.interface, path) = (service, interface, Stream1.path(of: interface))
    }
    /// The rule for signals of `Stream1` about the stream, or for one of them.
    func words(_ member: String? = nil) -> MatchRule {
        MatchRule(sender: service, path: path, interface: Stream1.name, member: member)
    }
}
