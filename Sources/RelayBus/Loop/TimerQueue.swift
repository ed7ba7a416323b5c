/// Deadlines in order, as a value: a binary heap whose cancelled entries leave when they come up.
struct TimerQueue<Payload> {
    private struct Entry {
        let deadline: UInt64
        let id: UInt64
    }
    private var heap: [Entry] = []
    private var payloads: [UInt64: Payload] = [:]
    private var lastID: UInt64 = 0

    var isEmpty: Bool { payloads.isEmpty }
    var count: Int { payloads.count }

    /// Adds a deadline in nanoseconds of the monotonic clock.
    mutating func add(_ payload: Payload, at deadline: UInt64) -> UInt64 {
        lastID += 1
        payloads[lastID] = payload
        heap.append(Entry(deadline: deadline, id: lastID))
        siftUp(heap.count - 1)
        return lastID
    }

    /// Removes an entry. Its place in the heap goes later, but never gathers: past twice the live ones it is rebuilt.
    @discardableResult mutating func cancel(_ id: UInt64) -> Payload? {
        guard let payload = payloads.removeValue(forKey: id) else { return nil }
        if heap.count > 64 && heap.count > payloads.count * 2 { rebuild() }
        return payload
    }

    /// When the next one is due.
    mutating func nextDeadline() -> UInt64? {
        dropCancelled()
        return heap.first?.deadline
    }

    /// The next one that is due at `now`.
    mutating func popDue(_ now: UInt64) -> Payload? {
        dropCancelled()
        guard let first = heap.first, first.deadline <= now else { return nil }
        removeFirst()
        return payloads.removeValue(forKey: first.id)
    }

    private mutating func dropCancelled() {
        while let first = heap.first, payloads[first.id] == nil { removeFirst() }
    }
    private mutating func rebuild() {
        heap = heap.filter { payloads[$0.id] != nil }
        for index in stride(from: heap.count / 2, through: 0, by: -1) { siftDown(index) }
    }
    private mutating func removeFirst() {
        heap.swapAt(0, heap.count - 1)
        heap.removeLast()
        siftDown(0)
    }
    private static func isBefore(_ a: Entry, _ b: Entry) -> Bool { (a.deadline, a.id) < (b.deadline, b.id) }
    private mutating func siftUp(_ start: Int) {
        var child = start
        while child > 0, Self.isBefore(heap[child], heap[(child - 1) / 2]) {
            heap.swapAt(child, (child - 1) / 2)
            child = (child - 1) / 2
        }
    }
    private mutating func siftDown(_ start: Int) {
        var parent = start
        while true {
            var least = parent
            for child in [2 * parent + 1, 2 * parent + 2] where child < heap.count {
                if Self.isBefore(heap[child], heap[least]) { least = child }
            }
            if least == parent { return }
            heap.swapAt(parent, least)
            parent = least
        }
    }
}
