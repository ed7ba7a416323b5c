/// What carries the events; or the machine by itself, which keeps all of them from their processors.
public enum Contender: String, Codable, CaseIterable, Sendable {
    case machine, bareWords, barePayload, ring, ours, oursCoded, oursWithSignals, datagram, zeromq, iceoryx, signal

    public var label: String {
        switch self {
        case .machine: "this machine"
        case .bareWords: "bare hand-over, two words"
        case .barePayload: "bare hand-over, payload"
        case .ring: "bare ring"
        case .ours: "Relay"
        case .oursCoded: "Relay, Codable"
        case .oursWithSignals: "Relay, signals beside"
        case .datagram: "Unix datagrams"
        case .zeromq: "ZeroMQ ipc"
        case .iceoryx: "iceoryx 2.0.3"
        case .signal: "Relay, signals only"
        }
    }
    public static let carriers = allCases.filter { $0 != .machine }
    /// Whom ours has to beat.
    public static let peers: [Self] = [.datagram, .zeromq, .iceoryx]
    /// The signal transport waits for a socket: it has no other form.
    public var waits: [Waiting] { self == .signal || self == .oursWithSignals ? [.block] : [.spin, .block] }
    /// Bytes of the payloads; a hand-over of two words has none.
    public var sizes: [Int] {
        switch self {
        case .machine: []
        case .bareWords, .oursWithSignals: [64]
        case .oursCoded: [64, 4_096]
        default: [64, 256, 1_024, 4_096]
        }
    }
}

/// How a receiver waits.
public enum Waiting: String, Codable, CaseIterable, Sendable {
    case spin, block
    public var label: String { self == .spin ? "spinning" : "blocking" }
}
