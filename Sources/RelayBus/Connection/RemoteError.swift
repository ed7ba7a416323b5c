/// An error that arrived over the bus: the cause of the `RelayError` that a call throws.
package struct RemoteError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The error's D-Bus name: `org.eventrelay.Error.NotPermitted`, `org.freedesktop.DBus.Error.ServiceUnknown`, …
    package let name: String
    /// The sender's text, which is untrusted.
    package let message: String
    package init(name: String, message: String) { (self.name, self.message) = (name, message) }
    package var description: String { message.isEmpty ? name : "\(name): \(message)" }
}

/// The names of errors on the bus.
package enum ErrorNames {
    package static let prefix = "org.eventrelay.Error."
    private static let standard = "org.freedesktop.DBus.Error."

    /// Ours, and the bus's own where one fits, as codes. What means that the call did not run is marked so.
    package static func relayError(_ remote: RemoteError, calling what: String) -> RelayError {
        let text = remote.message.isEmpty ? remote.name : remote.message
        func error(_ code: RelayError.Code, mayHaveRun: Bool = false) -> RelayError {
            RelayError(code, "\(what): \(text)", cause: remote, mayHaveRun: mayHaveRun)
        }
        if remote.name.hasPrefix(prefix) {
            let code = RelayError.Code(rawValue: String(remote.name.dropFirst(prefix.count)))
            // Those that a service answers before it runs anything, or that a handler throws when nothing was done.
            let cannotHaveRun: [RelayError.Code] = [
                .invalidArgument, .notPermitted, .notFound, .conflict, .unavailable, .storageFull, .limitsExceeded,
                .keyReused, .readOnly,
            ]
            return error(code, mayHaveRun: !cannotHaveRun.contains(code))
        }
        guard remote.name.hasPrefix(standard) else { return error(.internalFailure, mayHaveRun: true) }
        switch remote.name.dropFirst(standard.count) {
        case "ServiceUnknown", "NameHasNoOwner", "NoServer", "Disconnected": return error(.unavailable)
        case "NoReply", "Timeout", "TimedOut":
            // The bus sends that for a service that left with a call unanswered.
            return error(.unavailable, mayHaveRun: true)
        case "AccessDenied", "AuthFailed", "InteractiveAuthorizationRequired": return error(.notPermitted)
        case "InvalidArgs", "InvalidSignature", "MatchRuleInvalid", "PropertyReadOnly": return error(.invalidArgument)
        case "UnknownMethod", "UnknownObject", "UnknownInterface", "UnknownProperty": return error(.notFound)
        case "LimitsExceeded", "NoMemory": return error(.limitsExceeded)
        case let name where name.hasPrefix("Spawn."): return error(.unavailable)
        default: return error(.internalFailure, mayHaveRun: true)
        }
    }

    /// What a service answers for an error of its own.
    package static func name(for code: RelayError.Code) -> String {
        switch code {
        case .invalidArgument, .notPermitted, .notFound, .conflict, .unavailable, .outcomeUnknown, .storageFull,
            .schemaMismatch, .tooLarge, .limitsExceeded, .keyReused, .readOnly, .cancelled:
            prefix + code.rawValue
        default: prefix + RelayError.Code.internalFailure.rawValue
        }
    }
    package static let invalidArgs = standard + "InvalidArgs"
    package static let unknownMethod = standard + "UnknownMethod"
    package static let unknownObject = standard + "UnknownObject"
    package static let unknownInterface = standard + "UnknownInterface"
    package static let unknownProperty = standard + "UnknownProperty"
    package static let propertyReadOnly = standard + "PropertyReadOnly"
    package static let accessDenied = standard + "AccessDenied"
    package static let limitsExceeded = standard + "LimitsExceeded"
}
