/// One interface of a followed service: its machine, and what it has asked the bus for.
final class FollowedLane: @unchecked Sendable {  // On the loop's thread only.
    struct HeldEvent {
        let signature: String
        let body: [UInt8]
        let stamp: Stamp
        let name: String
    }
    let interface: String
    let path: String
    var machine = LaneMachine<HeldEvent>()
    /// What is wanted of it; nil stands for every event.
    var names: Set<String>? = []
    var rules: [MatchRule] = []
    /// Counts the requests of `Attach`: only the latest answer counts.
    var generation = 0
    /// Of the present owner.
    var hasSchemas = false
    var hasTick = false

    init(_ interface: String) { (self.interface, path) = (interface, Stream1.path(of: interface)) }

    /// What to ask the bus for: the events, and what `Stream1` says of them.
    func wantedRules(of service: String) -> [MatchRule] {
        let member: String?
        switch LaneScope(names: names) {
        case .nothing: return []
        case .one(let name): member = name
        case .all: member = nil
        }
        return [
            MatchRule(sender: service, path: path, interface: Stream1.name),
            MatchRule(sender: service, path: path, interface: interface, member: member),
        ]
    }
    func includes(_ name: String) -> Bool { names?.contains(name) ?? true }
}
