/// Calls methods of the one service. The seam between the commands and the bus.
protocol ServiceCaller: Sendable {
    /// Throws `CLIFailure`.
    func call(_ call: OutgoingCall, timeout: Duration) async throws -> IncomingReply
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
