import RelayCore

/// A text of the kernel's that is not as expected.
struct ProcFault: Error, Equatable {
    /// What is missing or no number: "a number of 'cpu3'".
    let what: String

    func relayError(_ path: String) -> RelayError {
        RelayError(.internalFailure, "\(path) has not \(what): this kernel writes it otherwise", cause: self)
    }
}
