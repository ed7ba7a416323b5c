/// How a program ends, for scripts: the codes of sysexits(3) that apply, and 1 for a refusal that the command declares.
package enum ExitCode: Int32, Sendable {
    case ok = 0
    /// The service declined, in a way that the command's contract names: `<interface>.Error.<Name>`.
    case refused = 1
    /// EX_USAGE: a command, option, event or argument name that does not exist, or a malformed one.
    case usage = 64
    /// EX_DATAERR: a value that the command cannot take, here or at the service; for the service: a journal that cannot
    /// be read.
    case badValue = 65
    /// EX_UNAVAILABLE: no bus, or no service on it; for the service: the bus went away.
    case unavailable = 69
    /// EX_SOFTWARE: the service failed, or answered what cannot be understood.
    case software = 70
    /// EX_CANTCREAT: the service's state directory or journal, or a folder for cursors, cannot be made or opened.
    case cannotCreate = 73
    /// EX_IOERR: the output could not be written; for the service: the disk of its journal is full, or has failed.
    case outputFailed = 74
    /// EX_TEMPFAIL: no answer in time, or a cursor that is in use; for the service: another one has its name or its
    /// directory.
    case timedOut = 75
    /// EX_NOPERM: the bus or the service does not allow it.
    case notPermitted = 77
    /// EX_CONFIG: the service's settings are wrong.
    case wrongSettings = 78
}
