import Glibc

extension Notice {
    /// Writes a notice to stderr, as one line: what a service, a journal and a relay do with theirs unless they are given
    /// another handler.
    ///
    ///     print-service: warning: the position 'ledger' of org.example.Printer: …
    ///
    /// Where stderr is systemd's log, the line begins with the priority that the log takes from it (sd-daemon(3)):
    /// `journalctl -p warning` finds it. `SystemLog` of RelaySystemd writes fields, too.
    ///
    /// - Parameter notice: the notice.
    public static func log(_ notice: Notice) { ProgramEnd.write(notice.line(isSystemLog: isSystemLog)) }

    func line(isSystemLog: Bool) -> String {
        let text = ProgramEnd.line(description)
        let (word, priority) =
            switch severity {
            case .info: ("info", 6)
            case .warning: ("warning", 4)
            case .error: ("error", 3)
            }
        return isSystemLog ? "<\(priority)>\(text)" : "\(ProgramEnd.programName): \(word): \(text)"
    }
    /// `JOURNAL_STREAM` names the device and the inode of the connection (systemd.exec(5)).
    private static var isSystemLog: Bool {
        guard let stream = getenv("JOURNAL_STREAM") else { return false }
        var status = stat()
        return fstat(2, &status) == 0 && String(cString: stream) == "\(status.st_dev):\(status.st_ino)"
    }
}
