/// The calls that wait for an answer, as a value: each ends exactly once.
struct PendingCalls {
    typealias Completion = @Sendable (Result<BusReply, RelayError>) -> Void
    struct Entry: Sendable {
        let title: String
        let destination: String
        /// The answer may have file descriptors anywhere.
        var takesDescriptors = false
        let completion: Completion
        var timer: UInt64 = 0
    }
    private var entries: [UInt32: Entry] = [:]
    private var lastSerial: UInt32
    private(set) var isClosed = false

    /// Serials come from the upper half, which libdbus never reaches, and start anywhere in it: a stranger that wants
    /// to answer in the service's place has to guess one.
    init(startingAt start: UInt32) { lastSerial = start | 0x8000_0000 }

    var count: Int { entries.count }
    /// One of those that wait, for a person.
    var someTitle: String? { entries.first?.value.title }

    mutating func nextSerial() -> UInt32 {
        repeat { lastSerial = lastSerial == .max ? 0x8000_0000 : lastSerial + 1 } while entries[lastSerial] != nil
        return lastSerial
    }
    /// False when the connection is closed: the call ends at once.
    mutating func add(_ entry: Entry, serial: UInt32) -> Bool {
        if isClosed { return false }
        entries[serial] = entry
        return true
    }
    mutating func setTimer(_ timer: UInt64, of serial: UInt32) -> Bool {
        if entries[serial] == nil { return false }
        entries[serial]?.timer = timer
        return true
    }
    mutating func remove(_ serial: UInt32) -> Entry? { entries.removeValue(forKey: serial) }

    /// The call that a reply answers. The reply must come from the call's destination, or from the bus in its place.
    mutating func answered(by sender: String?, serial: UInt32) -> Entry? {
        guard let entry = entries[serial] else { return nil }
        let isExpected =
            sender == entry.destination || sender == "org.freedesktop.DBus"
            || !entry.destination.hasPrefix(":") && entry.destination != "org.freedesktop.DBus"
        return isExpected ? entries.removeValue(forKey: serial) : nil
    }
    /// Ends all, and takes no more.
    mutating func close() -> [Entry] {
        isClosed = true
        defer { entries = [:] }
        return entries.sorted { $0.key < $1.key }.map(\.value)
    }
}
