import RelayCore

/// What an error of a call means for the one who called: a code for scripts, a message for people.
enum FailureMapping {
    /// `interface` is the one called, whose own errors (`<interface>.Error.<Name>`) are refusals that it declares.
    static func failure(_ error: RelayError, interface: String, member: String) -> CLIFailure {
        guard let remote = error.cause as? RemoteError else {
            let doubt = error.mayHaveRun && error.code == .timedOut ? "; it may have run" : ""
            return CLIFailure(exitCode(error.code), "\(member): \(error.message)\(doubt)")
        }
        let isRefusal = remote.name.hasPrefix(interface + ".Error.")
        let text = remote.message.isEmpty ? remote.name : "\(remote.message) (\(remote.name))"
        return CLIFailure(isRefusal ? .refused : exitCode(error.code), "\(member): \(text)")
    }

    static func exitCode(_ code: RelayError.Code) -> ExitCode {
        switch code {
        case .notPermitted: .notPermitted
        case .unavailable: .unavailable
        case .timedOut: .timedOut
        case .invalidArgument, .schemaMismatch, .tooLarge: .badValue
        default: .software
        }
    }
}
