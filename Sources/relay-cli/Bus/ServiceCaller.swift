/// Calls methods of the one service. The seam between the commands and the bus.
protocol ServiceCaller: Sendable {
    /// Throws `ServiceAbsent` or `CLIFailure`.
    func call(_ call: OutgoingCall, timeout: Duration) async throws -> IncomingReply
}

/// There is no such service on the bus now; it may come.
struct ServiceAbsent: Error, Equatable, Sendable {
    /// For a command that does not wait for it.
    let failure: CLIFailure
}

struct OutgoingCall: Equatable, Sendable {
    let path: String
    let interface: String
    let member: String
    let signature: String
    let body: [UInt8]
}

struct IncomingReply: Equatable, Sendable {
    let signature: String
    let body: [UInt8]
}
