import CDBus

/// Composed messages that the bus did not take at once, in order, in one piece of memory.
///
/// libdbus queues, too, but at a price: every send then wakes the loop's thread, which fights the publisher for the
/// connection (measured: 86k signals/s, 10 µs of the sender's time each, against 111–118k/s and 4 µs with this queue, and
/// 70k/s for a plain libdbus sender). So libdbus is given the next message only when it has written the one before.
struct Outbox {
    private var bytes: [UInt8] = []
    /// What comes next; what lies before it was taken.
    private var head = 0

    var isEmpty: Bool { head == bytes.count }
    var count: Int { bytes.count - head }

    /// Appends one whole message.
    mutating func append(_ message: UnsafeRawBufferPointer) {
        // Half of it taken: moved to the front, which costs each byte once.
        if head > 65_536 && head > bytes.count / 2 {
            bytes.removeFirst(head)
            head = 0
        }
        bytes.append(contentsOf: message)
    }
    /// Shows the next message and drops it; false when there is none.
    mutating func takeFirst(_ body: (UnsafeRawBufferPointer) -> Void) -> Bool {
        if isEmpty { return false }
        let length = bytes.withUnsafeBytes { bytes -> Int in
            let rest = UnsafeRawBufferPointer(rebasing: bytes[head...])
            // Never past the end: whole messages were appended, all with a header that libdbus takes.
            let length = min(max(Self.length(of: rest), 1), rest.count)
            body(UnsafeRawBufferPointer(rebasing: rest[..<length]))
            return length
        }
        head += length
        if isEmpty {
            // The memory of a burst is kept for the next one up to a bound.
            bytes.removeAll(keepingCapacity: bytes.capacity <= 1 << 20)
            head = 0
        }
        return true
    }
    private static func length(of message: UnsafeRawBufferPointer) -> Int {
        guard let start = message.baseAddress else { return 0 }
        return Int(
            dbus_message_demarshal_bytes_needed(
                start.assumingMemoryBound(to: CChar.self), Int32(clamping: message.count)))
    }
}
