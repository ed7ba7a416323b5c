/// What the socket did not take at once, in order: the bytes of composed messages in one piece of memory, and between them
/// the messages that libdbus writes.
///
/// libdbus queues, too, but at a price: every send then wakes the loop's thread, which fights the publisher for the
/// connection (measured: 86k signals/s, 10 µs of the sender's time each, against 111–118k/s and 4 µs with this queue,
/// and 70k/s for a plain libdbus sender). And it writes each message by itself: from here many go by one system call.
struct Outbox {
    /// What is next in line.
    enum Item {
        /// Of any number of messages; the first may have been taken in part.
        case bytes(UnsafeRawBufferPointer)
        case message(ComposedMessage)
    }
    private var bytes: [UInt8] = []
    /// Each behind so many bytes of all that were ever appended.
    private var composed: [(place: Int, message: ComposedMessage)] = []
    /// What comes next; what lies before it was taken.
    private var head = 0
    /// The bytes that were ever taken.
    private var taken = 0

    var isEmpty: Bool { head == bytes.count && composed.isEmpty }
    /// What waits, in bytes.
    var count: Int { bytes.count - head + composed.count * ComposedMessage.size }

    /// Appends a whole message, or what is left of one that nothing is before.
    mutating func append(_ message: UnsafeRawBufferPointer) {
        // Half of it taken: moved to the front, which costs each byte once.
        if head > 65_536 && head > bytes.count / 2 {
            bytes.removeFirst(head)
            head = 0
        }
        bytes.append(contentsOf: message)
    }
    mutating func append(_ message: ComposedMessage) { composed.append((taken + bytes.count - head, message)) }

    /// Shows what is next, if anything is, and drops as many of the bytes as the body returns; a message goes in any case.
    mutating func takeNext(_ body: (Item) -> Int) {
        let ready = (composed.first?.place ?? .max) - taken
        if ready == 0 {
            _ = body(.message(composed.removeFirst().message))
        } else if head < bytes.count {
            let count = bytes.withUnsafeBytes { bytes in
                // Within what waits: `ready` ends at a message between these bytes, or is past them all.
                let next = UnsafeRawBufferPointer(rebasing: bytes[head..<head + min(bytes.count - head, ready)])
                return min(max(body(.bytes(next)), 0), next.count)
            }
            head += count
            taken &+= count
        }
        if head == bytes.count {
            // The memory of a burst is kept for the next one up to a bound.
            bytes.removeAll(keepingCapacity: bytes.capacity <= 1 << 20)
            head = 0
        }
    }
}
