/// A sender and a receiver of the same kind.
enum Pair: String, CaseIterable, Codable {
    case libdbus
    case sdbus
    case relay

    /// The executable beside the benchmark's own.
    var executable: String { "\(rawValue)-peer" }
    var label: String {
        switch self {
        case .libdbus: "C, libdbus"
        case .sdbus: "C, sd-bus"
        case .relay: "Relay"
        }
    }
}
