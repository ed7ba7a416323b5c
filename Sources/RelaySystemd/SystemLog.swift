import CSystemd
import Glibc
public import RelayCore

/// Writes entries with fields to filter by to systemd's log (journald), for a program whose stderr is connected to the
/// log.
///
/// ```swift
/// let log = SystemLog()
/// let service = try EventService(name: name, exporting: Printing1.self, journal: journal) { notice in
///     if log?.write(notice) != true { print(notice) }
/// }
/// ```
///
///     journalctl -u printer RELAY_KIND=LimitsExceeded RELAY_INTERFACE=org.example.Printing1
///     journalctl -u printer -x        # with an explanation and the remedy
///
/// An entry has `MESSAGE`, `PRIORITY`, and `MESSAGE_ID` if the catalog explains the message. The entry of a notice also
/// has `RELAY_KIND`, `RELAY_INTERFACE`, `RELAY_PEER`, `RELAY_SEQUENCE`, `RELAY_CODE` and `RELAY_SUPPRESSED`, as far as
/// they are known. An entry never contains the fields of an event or a command.
///
/// - Isolation: from any thread. A log that accepts no entries blocks the caller. Notices have their own thread.
public struct SystemLog: Sendable {
    /// How urgent an entry is: syslog's numbers.
    public enum Priority: Int, Sendable {
        /// A failure that an administrator should look at.
        case error = 3
        /// The program continues, but may fail later.
        case warning = 4
        /// An ordinary occurrence.
        case info = 6
        /// Details for those who look for a fault.
        case debug = 7
    }
    /// One field of an entry. Its name has capital letters, digits and underscores, and begins with a letter.
    struct Field: Equatable {
        let name: String
        let value: String
    }

    /// The log, or nil if stderr is not connected to it. `JOURNAL_STREAM` names the connection.
    public init?() {
        guard Self.isStream(getenv("JOURNAL_STREAM").map { String(cString: $0) }, 2) else { return nil }
    }
    /// Writes a notice.
    ///
    /// - Parameter notice: the notice of a service or a journal.
    /// - Returns: whether the log accepted the notice. If not, write it where a person finds it.
    @discardableResult public func write(_ notice: Notice) -> Bool { Self.send(Self.fields(of: notice)) }
    /// Writes a message.
    ///
    /// - Parameter message: the text, for a person.
    /// - Parameter priority: how urgent it is.
    /// - Parameter id: the number of an explanation in the catalog; nil if there is none.
    /// - Returns: whether the log accepted it.
    @discardableResult public func write(
        _ message: String, _ priority: Priority = .info, id: MessageID? = nil
    ) -> Bool {
        Self.send(Self.fields(message, priority, id))
    }

    /// systemd names the device and inode of the stream that it gave.
    static func isStream(_ stream: String?, _ descriptor: Int32) -> Bool {
        var status = stat()
        guard let stream, fstat(descriptor, &status) == 0 else { return false }
        return stream == "\(status.st_dev):\(status.st_ino)"
    }
    static func fields(_ message: String, _ priority: Priority, _ id: MessageID?) -> [Field] {
        var fields = [Field(name: "MESSAGE", value: message), Field(name: "PRIORITY", value: "\(priority.rawValue)")]
        if let id { fields.append(Field(name: "MESSAGE_ID", value: id.rawValue)) }
        return fields
    }
    static func fields(of notice: Notice) -> [Field] {
        let priority: Priority =
            switch notice.severity {
            case .info: .info
            case .warning: .warning
            case .error: .error
            }
        var fields = Self.fields(notice.description, priority, MessageID(notice.kind))
        let subject = notice.subject
        for (name, value) in [
            ("KIND", notice.kind.rawValue), ("INTERFACE", subject.interface), ("PEER", subject.peer),
            ("SEQUENCE", subject.sequence.map { "\($0)" }), ("CODE", subject.code?.rawValue),
            ("SUPPRESSED", notice.suppressed == 0 ? nil : "\(notice.suppressed)"),
        ] {
            if let value { fields.append(Field(name: "RELAY_\(name)", value: value)) }
        }
        return fields
    }
    private static func send(_ fields: [Field]) -> Bool {
        var bytes: [UInt8] = []
        var ends: [Int] = []
        for field in fields {
            bytes += "\(field.name)=\(field.value)".utf8
            ends.append(bytes.count)
        }
        // The pointers live as long as the call; libsystemd reads them only.
        return bytes.withUnsafeMutableBytes { bytes in
            var start = 0
            let parts = ends.map { end in
                defer { start = end }
                return iovec(iov_base: bytes.baseAddress.map { $0 + start }, iov_len: end - start)
            }
            return sd_journal_sendv(parts, Int32(parts.count)) == 0
        }
    }
}
