import RelayTool

/// What ends the service, where its error's code alone does not tell the exit code: that of the bus and that of the journal are
/// the same.
struct ServiceFailure: Error {
    let code: ExitCode
    let message: String
}
