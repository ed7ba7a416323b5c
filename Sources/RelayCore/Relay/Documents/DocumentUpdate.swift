/// What an update does next, as a value.
///
/// Each submission has an idempotency key. Where its reply is lost it is repeated with the same key, which the service
/// answers with the first reply: it is applied once. Where it met a conflict, the next one is based on the present
/// state, and has an id of its own. A service that has forgotten the reply answers a repetition with `forgotten`, which
/// ends the update: it may have been applied.
package enum DocumentUpdate {
    package enum Step: Hashable, Sendable {
        /// Read the present state, change it, and submit it with a new id.
        case begin
        /// Submit the same once more, after a pause.
        case `repeat`
        /// Report what happened.
        case end
    }
    package enum Outcome: Hashable, Sendable {
        case success, conflict, refused
        /// A conflict for a repetition that may have been applied.
        case forgotten
        case failed(RelayError.Code)
    }
    package static func step(after outcome: Outcome, isTimeLeft: Bool) -> Step {
        switch outcome {
        case .success, .refused, .forgotten: .end
        case .conflict: isTimeLeft ? .begin : .end
        case .failed(let code): isTimeLeft && isPassing(code) ? .repeat : .end
        }
    }
    /// Whether another attempt may mend it.
    package static func isPassing(_ code: RelayError.Code) -> Bool {
        [.unavailable, .timedOut, .outcomeUnknown, .limitsExceeded].contains(code)
    }
}

extension SubmitOutcome {
    package var kind: DocumentUpdate.Outcome {
        switch self {
        case .success: .success
        case .conflict: .conflict
        case .refused: .refused
        case .failed(let error) where error.cause is SubmitRefusal<Document>: .forgotten
        case .failed(let error): .failed(error.code)
        }
    }
}
