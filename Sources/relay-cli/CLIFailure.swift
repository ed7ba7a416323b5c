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
    /// A command was sent, and there is no answer that says what became of it.
    let mayHaveRun: Bool
    /// What it is, for programs, where the exit code has several meanings.
    let kind: String

    init(
        _ code: ExitCode, _ message: String, refusal: String? = nil, name: String? = nil, excerpt: [String] = [],
        mayHaveRun: Bool = false, kind: String? = nil
    ) {
        (self.code, self.message, self.refusal, self.name, self.excerpt) = (code, message, refusal, name, excerpt)
        (self.mayHaveRun, self.kind) = (mayHaveRun, kind ?? "\(code)")
    }

    /// Whether the service or the bus has answered with an error.
    var isReply: Bool { (refusal ?? name) != nil && code != .timedOut }

    /// For programs, without a line's end: `{"error":{"code":64,"kind":"usage","message":"…"}}`.
    var json: String {
        var output = ByteBuffer()
        output.append("{\"error\":{\"code\":\(code.rawValue),\"kind\":\"\(kind)\",\"message\":")
        SafeText.append(quoted: message, to: &output)
        if let name = refusal ?? name {
            output.append(",\"name\":")
            SafeText.append(quoted: name, to: &output)
        }
        if mayHaveRun { output.append(",\"mayHaveRun\":true") }
        output.append("}}")
        return output.text
    }

    static func cannotWrite(errno number: Int32) -> CLIFailure {
        CLIFailure(.outputFailed, "cannot write to stdout: \(String(cString: strerror(number)))")
    }

    /// Nobody has the name, and nothing can start it.
    static func absent(
        _ service: String, on bus: Bus, _ advice: String = "or name another with --service"
    ) -> CLIFailure {
        CLIFailure(.unavailable, "no service '\(service)' on \(bus); start it, \(advice)")
    }
    /// Nobody has the name, and what would start the service fails.
    static func cannotStart(_ service: String, on bus: Bus, _ reason: UnitProbe.Reason) -> CLIFailure {
        CLIFailure(.unavailable, "'\(service)' cannot start on \(bus): \(reason.sentence)")
    }
    /// The same failure in other words.
    func with(message: String) -> CLIFailure {
        CLIFailure(
            code, message, refusal: refusal, name: name, excerpt: excerpt, mayHaveRun: mayHaveRun, kind: kind)
    }
    /// Somebody has the name, but nothing there was made with Relay.
    static func notRelay(_ service: String) -> CLIFailure {
        CLIFailure(
            .unavailable,
            "'\(service)' is no service of Relay: no interface of it is built with RelayCore; 'list --all' shows what it "
                + "has, or name another with --service")
    }
}

/// What an error of a call means for the one who called: a code for scripts, a message for people.
enum FailureMapping {
    /// `interface` is the one called, whose own errors (`<interface>.Error.<Name>`) are refusals that it declares.
    static func failure(
        _ error: RelayError, service: String, interface: String, member: String, timeout: Duration
    ) -> CLIFailure {
        let isInDoubt = mayHaveRun(error, interface)
        if error.code == .timedOut && error.cause == nil {
            // The library's words have the time that was left when the call went out, and the service's unique name.
            return CLIFailure(
                .timedOut,
                "\(member): no answer of '\(service)' within \(timeout)\(doubt(error, interface)); see whether its process "
                    + "is stopped or busy ('doctor'), or wait longer with --timeout SECONDS",
                mayHaveRun: isInDoubt)
        }
        guard let remote = error.cause as? RemoteError, !isLocal(remote, error.code) else {
            return CLIFailure(
                isInDoubt ? .timedOut : exitCode(error.code), error.message + doubt(error, interface),
                mayHaveRun: isInDoubt, kind: isInDoubt ? outcomeUnknown : nil)
        }
        let isRefusal = remote.name.hasPrefix(interface + ".Error.")
        let text = remote.message.isEmpty ? remote.name : "\(remote.message) (\(remote.name))"
        if isRefusal { return CLIFailure(.refused, "\(member): \(text)", refusal: remote.name) }
        let isUnknown = isInDoubt && [.unavailable, .outcomeUnknown].contains(error.code)
        return CLIFailure(
            isUnknown ? .timedOut : exitCode(error.code),
            "\(member): \(text)" + (isUnknown ? doubt(error, interface) : "") + advice(remote.name, service),
            name: remote.name, mayHaveRun: isInDoubt, kind: isUnknown ? outcomeUnknown : nil)
    }
    /// What to do about what the bus answers in place of the service; what the service says itself is for it to explain.
    private static func advice(_ name: String, _ service: String) -> String {
        let standard = "org.freedesktop.DBus.Error."
        guard name.hasPrefix(standard) else { return "" }
        switch name.dropFirst(standard.count) {
        case "AccessDenied": return "; 'doctor' shows what this user may do with '\(service)'"
        case "NoReply": return "; the log of '\(service)' shows why it left"
        case let rest where rest.hasPrefix("Spawn."):
            return "; the bus cannot start '\(service)': see its D-Bus service file, and its log"
        default: return ""
        }
    }

    private static func doubt(_ error: RelayError, _ interface: String) -> String {
        mayHaveRun(error, interface) ? "; it may have run" : ""
    }
    /// A question that changes nothing leaves no doubt.
    private static func mayHaveRun(_ error: RelayError, _ interface: String) -> Bool {
        error.mayHaveRun && !isQuestion(interface)
    }
    static func isQuestion(_ interface: String) -> Bool {
        interface == Stream1.name || interface.hasPrefix("org.freedesktop.DBus.")
    }
    private static let outcomeUnknown = "outcomeUnknown"

    /// What libdbus says when it finds no bus: no reply to the call.
    private static func isLocal(_ remote: RemoteError, _ code: RelayError.Code) -> Bool {
        // From the bus, these would not mean that there is none.
        let others = ["NotSupported", "Failed", "LimitsExceeded", "NoMemory", "AccessDenied", "InvalidArgs"]
        if others.contains(where: { remote.name == "org.freedesktop.DBus.Error." + $0 }) { return code == .unavailable }
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
        return CLIFailure(code, error.message, kind: error.code == .conflict ? "conflict" : nil)
    }

    static func exitCode(_ code: RelayError.Code) -> ExitCode {
        switch code {
        case .notPermitted, .readOnly: .notPermitted
        case .unavailable: .unavailable
        case .timedOut: .timedOut
        case .storageFull: .outputFailed
        case .invalidArgument, .schemaMismatch, .tooLarge: .badValue
        default: .software
        }
    }
}
