import RelayCore
import RelayTool

/// What an error of a call means for the one who called: a code for scripts, a message for people.
enum FailureMapping {
    /// `interface` is the one called, whose own errors (`<interface>.Error.<Name>`) are refusals that it declares.
    static func failure(_ error: RelayError, interface: String, member: String) -> CLIFailure {
        guard let remote = error.cause as? RemoteError, !isLocal(remote) else {
            let doubt = error.mayHaveRun && error.code == .timedOut ? "; it may have run" : ""
            return CLIFailure(exitCode(error.code), error.message + doubt)
        }
        let isRefusal = remote.name.hasPrefix(interface + ".Error.")
        let text = remote.message.isEmpty ? remote.name : "\(remote.message) (\(remote.name))"
        return CLIFailure(isRefusal ? .refused : exitCode(error.code), "\(member): \(text)")
    }

    /// What libdbus says when it finds no bus: no reply to the call.
    private static func isLocal(_ remote: RemoteError) -> Bool {
        ["NoServer", "FileNotFound", "BadAddress", "NoNetwork", "AuthFailed", "Disconnected", "IOError"].contains {
            remote.name == "org.freedesktop.DBus.Error." + $0
        }
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
