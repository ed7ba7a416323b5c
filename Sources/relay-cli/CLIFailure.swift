import Glibc
import RelayCore
import RelayTool

/// Why a command ends without success: what a person reads on stderr, and what a script sees.
struct CLIFailure: Error, Equatable, Sendable {
    let code: ExitCode
    /// Names the offending value and says what to do. Made fit for a terminal when it is printed, not before.
    let message: String
    /// Of a refusal that the interface declares: its D-Bus name.
    let refusal: String?
    /// Of another error that the service or the bus answered with: its D-Bus name.
    let name: String?
    /// Lines that show the place: a text, and a caret below it.
    let excerpt: [String]

    init(
        _ code: ExitCode, _ message: String, refusal: String? = nil, name: String? = nil, excerpt: [String] = []
    ) {
        (self.code, self.message, self.refusal, self.name, self.excerpt) = (code, message, refusal, name, excerpt)
    }

    /// For programs, without a line's end: `{"error":{"code":64,"kind":"usage","message":"…"}}`.
    var json: String {
        var output = ByteBuffer()
        output.append("{\"error\":{\"code\":\(code.rawValue),\"kind\":\"\(code)\",\"message\":")
        SafeText.append(quoted: message, to: &output)
        if let name = refusal ?? name {
            output.append(",\"name\":")
            SafeText.append(quoted: name, to: &output)
        }
        output.append("}}")
        return output.text
    }

    static func cannotWrite(errno number: Int32) -> CLIFailure {
        CLIFailure(.outputFailed, "cannot write: \(String(cString: strerror(number)))")
    }
}

/// What an error of a call means for the one who called: a code for scripts, a message for people.
enum FailureMapping {
    /// `interface` is the one called, whose own errors (`<interface>.Error.<Name>`) are refusals that it declares.
    static func failure(
        _ error: RelayError, interface: String, member: String, timeout: Duration
    ) -> CLIFailure {
        if error.code == .timedOut && error.cause == nil {
            // The library's words have the time that was left when the call went out, and the service's unique name.
            return CLIFailure(.timedOut, "\(member): no answer within \(timeout)\(doubt(error, interface))")
        }
        guard let remote = error.cause as? RemoteError, !isLocal(remote, error.code) else {
            return CLIFailure(exitCode(error.code), error.message + doubt(error, interface))
        }
        let isRefusal = remote.name.hasPrefix(interface + ".Error.")
        let text = remote.message.isEmpty ? remote.name : "\(remote.message) (\(remote.name))"
        if isRefusal { return CLIFailure(.refused, "\(member): \(text)", refusal: remote.name) }
        let hasLeft = error.code == .unavailable
        return CLIFailure(
            exitCode(error.code), "\(member): \(text)" + (hasLeft ? doubt(error, interface) : ""), name: remote.name)
    }

    private static func doubt(_ error: RelayError, _ interface: String) -> String {
        // A question that changes nothing leaves none.
        error.mayHaveRun && interface != "org.freedesktop.DBus.Introspectable" ? "; it may have run" : ""
    }

    /// What libdbus says when it finds no bus: no reply to the call.
    private static func isLocal(_ remote: RemoteError, _ code: RelayError.Code) -> Bool {
        // From the bus, it would not mean that there is none.
        if remote.name == "org.freedesktop.DBus.Error.NotSupported" { return code == .unavailable }
        return ["NoServer", "FileNotFound", "BadAddress", "NoNetwork", "AuthFailed", "Disconnected", "IOError"].contains
        {
            remote.name == "org.freedesktop.DBus.Error." + $0
        }
    }

    /// What is wrong with a cursor, or with the folder of all of them.
    static func failure(ofCursor error: any Error) -> CLIFailure {
        guard let error = error as? RelayError else { return CLIFailure(.software, "\(error)") }
        let code: ExitCode =
            switch error.code {
            case .conflict: .timedOut
            case .unavailable, .storageFull: .cannotCreate
            default: exitCode(error.code)
            }
        return CLIFailure(code, error.message)
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
