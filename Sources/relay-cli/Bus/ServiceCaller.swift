import RelayTool

/// Calls methods of the one service. The seam between the commands and the bus.
protocol ServiceCaller: Sendable {
    /// Throws `ServiceAbsent`, `ServiceBusy` or `CLIFailure`.
    func call(_ call: OutgoingCall, timeout: Duration) async throws -> IncomingReply
}

/// Why a call failed, where a command can do something about it.
protocol CallFailure: Error, Sendable {
    /// For a command that does nothing about it.
    var failure: CLIFailure { get }
}

/// There is no such service on the bus now; it may come.
struct ServiceAbsent: CallFailure, Equatable {
    let failure: CLIFailure
}

/// The service has no room for the answer now: others have not taken theirs.
struct ServiceBusy: CallFailure, Equatable {
    let failure: CLIFailure
}

extension CLIFailure {
    /// What a call's failure ends a command with.
    init(ofCall error: any Error) {
        self = error as? CLIFailure ?? (error as? any CallFailure)?.failure ?? CLIFailure(.software, "\(error)")
    }
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
