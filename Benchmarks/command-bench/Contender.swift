/// A caller and the service that it calls.
enum Contender: String, CaseIterable, Codable {
    case relay, relayService, sdbus, libdbus, gdbus

    var label: String {
        switch self {
        case .relay: "Relay"
        case .relayService: "sd-bus, to Relay's service"
        case .sdbus: "C, sd-bus"
        case .libdbus: "C, libdbus"
        case .gdbus: "C, GDBus"
        }
    }
    /// The programs, beside this one.
    var service: String { "\(self == .relayService ? Contender.relay.rawValue : rawValue)-peer" }
    var caller: String { "\(self == .relayService ? Contender.sdbus.rawValue : rawValue)-peer" }
    /// What ours is compared with. The mixed pair shows which side costs what, and is none.
    var isPeer: Bool { self != .relay && self != .relayService }
}
