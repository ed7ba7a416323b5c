/// Deadlines in order, as a value: binary heaps whose cancelled entries leave when they come up.
struct TimerQueue<Payload> {
    /// What the queue sleeps for.
    private var latest = DeadlineHeap()
    /// The earliest times of those that have some leeway: due then, if anything else has ended the sleep.
    private var earliest = DeadlineHeap()
    private var payloads: [UInt64: Payload] = [:]
    private var lastID: UInt64 = 0

    var isEmpty: Bool { payloads.isEmpty }
    var count: Int { payloads.count }

    /// Adds a deadline in nanoseconds of the monotonic clock.
    ///
    /// - Parameter early: from when on it may come; nil: not before its deadline.
    mutating func add(_ payload: Payload, at deadline: UInt64, early: UInt64? = nil) -> UInt64 {
        lastID += 1
        payloads[lastID] = payload
        latest.add(deadline, lastID)
        if let early { earliest.add(early, lastID) }
        return lastID
    }

    /// Removes an entry. Its place in the heap goes later, but never gathers: past twice the live ones it is rebuilt.
    @discardableResult mutating func cancel(_ id: UInt64) -> Payload? {
        guard let payload = payloads.removeValue(forKey: id) else { return nil }
        sweep()
        return payload
    }

    /// When the next one is due at the latest.
    mutating func nextDeadline() -> UInt64? {
        dropCancelled()
        return latest.first?.deadline
    }

    /// The next one that is due at `now`; of those that may come already, after all that have to.
    mutating func popDue(_ now: UInt64) -> Payload? {
        dropCancelled()
        if let first = latest.first, first.deadline <= now {
            latest.removeFirst()
            return payloads.removeValue(forKey: first.id)
        }
        if let first = earliest.first, first.deadline <= now {
            earliest.removeFirst()
            defer { sweep() }
            return payloads.removeValue(forKey: first.id)
        }
        return nil
    }

    private mutating func dropCancelled() {
        while let first = latest.first, payloads[first.id] == nil { latest.removeFirst() }
        while let first = earliest.first, payloads[first.id] == nil { earliest.removeFirst() }
    }
    private mutating func sweep() {
        if latest.count > 64 && latest.count > payloads.count * 2 { latest.keep { payloads[$0] != nil } }
        if earliest.count > 64 && earliest.count > payloads.count * 2 { earliest.keep { payloads[$0] != nil } }
    }
}

/// Numbers by their deadlines, equal ones in their own order.
private struct DeadlineHeap {
    struct Entry {
        let deadline: UInt64
        let id: UInt64
    }
    private var heap: [Entry] = []

    var count: Int { heap.count }
    var first: Entry? { heap.first }

    mutating func add(_ deadline: UInt64, _ id: UInt64) {
        heap.append(Entry(deadline: deadline, id: id))
        siftUp(heap.count - 1)
    }
    mutating func removeFirst() {
        heap.swapAt(0, heap.count - 1)
        heap.removeLast()
        siftDown(0)
    }
    mutating func keep(_ isKept: (UInt64) -> Bool) {
        heap = heap.filter { isKept($0.id) }
        for index in stride(from: heap.count / 2, through: 0, by: -1) { siftDown(index) }
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
