/// An error that determines how its program ends: its exit code, and its line on stderr.
///
/// ``RelayError`` conforms to it. Any other error ends a program with exit code 70 and prints its description on
/// stderr.
public protocol ProgramFailure: Error {
    /// The exit code, from 1 to 255: one of sysexits(3), where one fits.
    var exitCode: Int32 { get }
    /// One line for stderr: what was wrong, with which value, and what to do.
    var exitMessage: String { get }
}

/// By its code, unless its cause says more:
///
/// | code | exit code |
/// | --- | --- |
/// | a refusal of a command | 1, as with `relay-cli` |
/// | `.invalidArgument` | 64, EX_USAGE |
/// | `.schemaMismatch` | 65, EX_DATAERR |
/// | `.unavailable`, `.notFound` | 69, EX_UNAVAILABLE |
/// | `.storageFull`, `.outcomeUnknown` | 74, EX_IOERR |
/// | `.timedOut`, `.conflict`, `.limitsExceeded` | 75, EX_TEMPFAIL |
/// | `.notPermitted`, `.readOnly` | 77, EX_NOPERM |
/// | all others | 70, EX_SOFTWARE |
///
/// A journal that cannot be opened, or that fails for good, ends a program as it ends `relay-service`: with 65 for what is in the file, 74 for a
/// disk that is full or fails, 75 while another journal has the directory, and 73, EX_CANTCREAT, for a directory or a file
/// that cannot be used.
extension RelayError: ProgramFailure {
    public var exitCode: Int32 {
        if let ownExitCode { return ownExitCode }
        if let cause = cause as? any ProgramFailure { return cause.exitCode }
        return switch code {
        case .unknownRefusal: 1
        case .invalidArgument: 64
        case .schemaMismatch: 65
        case .unavailable, .notFound: 69
        case .storageFull, .outcomeUnknown: 74
        case .timedOut, .conflict, .limitsExceeded: 75
        case .notPermitted, .readOnly: 77
        default: 70
        }
    }
    public var exitMessage: String { message }
}
