import CRelayShims

/// A pipe, whose ends no child process inherits that is started at the same moment.
package enum SystemPipe {
    /// Both ends are the caller's to close.
    package static func open() throws(SystemError) -> (reading: Int32, writing: Int32) {
        var (reading, writing): (Int32, Int32) = (-1, -1)
        let failed = relay_pipe(&reading, &writing)
        if failed != 0 { throw SystemError(failed) }
        return (reading, writing)
    }
}
