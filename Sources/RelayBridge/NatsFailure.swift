import CNats
import RelayCore

/// What libnats answered, where that is not what was asked for.
package struct NatsFailure: Error, CustomStringConvertible {
    let status: natsStatus
    /// JetStream's own number; 0: none.
    let reason: UInt32
    package let description: String

    init(_ status: natsStatus, _ reason: jsErrCode = jsErrCode(0)) {
        (self.status, self.reason) = (status, reason.rawValue)
        let text = natsStatus_GetText(status).map { String(cString: $0) } ?? "status \(status.rawValue)"
        // Of this thread's last call.
        let detail = nats_GetLastError(nil).map { String(cString: $0) } ?? ""
        // Most often that ends with the status's own words, behind a place in libnats's sources.
        description = detail.isEmpty || detail.hasSuffix(text) ? text : "\(text): \(detail)"
    }
    /// There is no such stream, message or consumer.
    var isAbsence: Bool {
        status == NATS_NOT_FOUND
            || [JSStreamNotFoundErr, JSNoMessageFoundErr, JSConsumerNotFoundErr].contains { $0.rawValue == reason }
    }
    /// - Parameter what: what was tried, as the beginning of a sentence.
    func error(_ what: String) -> RelayError {
        let code: RelayError.Code =
            switch status {
            case NATS_TIMEOUT: .timedOut
            case NATS_CONNECTION_AUTH_FAILED, NATS_NOT_PERMITTED: .notPermitted
            case NATS_MAX_PAYLOAD: .tooLarge
            default: .unavailable
            }
        let advice =
            switch status {
            case NATS_NO_RESPONDERS: "; there is no such stream, or JetStream is not enabled for this account"
            case NATS_MAX_PAYLOAD: "; raise max_payload of the server to 2MB: an event has up to 1 MiB"
            default: ""
            }
        return RelayError(code, "\(what): \(description)\(advice)", cause: self)
    }
}

/// Calls a function of libnats, and throws what it answers but OK.
func nats(_ call: () -> natsStatus) throws(NatsFailure) {
    let status = call()
    if status != NATS_OK { throw NatsFailure(status) }
}
/// The same for one that reports JetStream's own number.
func jetStream(_ call: (inout jsErrCode) -> natsStatus) throws(NatsFailure) {
    var reason = jsErrCode(0)
    let status = call(&reason)
    if status != NATS_OK { throw NatsFailure(status, reason) }
}
