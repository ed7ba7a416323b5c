/// Whose turn it is to `Read`, as a value: one request at a time for a service, round robin.
struct ReadQueue<Reader: Hashable> {
    private var waiting: [Reader] = []
    /// Who has asked, and for which of its requests.
    private(set) var isBusy = false
    /// Counts the owners of the service: answers of a former one are none of this queue's.
    private(set) var generation = 0

    /// Lines up. A reader that waits already keeps its place.
    mutating func ask(_ reader: Reader) {
        if !waiting.contains(reader) { waiting.append(reader) }
    }
    mutating func withdraw(_ reader: Reader) { waiting.removeAll { $0 == reader } }

    /// The next reader, of those that can read. The request counts as sent; `answered` follows.
    mutating func next(where canRead: (Reader) -> Bool = { _ in true }) -> Reader? {
        guard !isBusy, let index = waiting.firstIndex(where: canRead) else { return nil }
        isBusy = true
        return waiting.remove(at: index)
    }
    /// The answer is here, or there is none.
    mutating func answered() { isBusy = false }
    /// Another owner, or none: what was asked of this one gets no answer that counts.
    mutating func forgetOwner() {
        (waiting, isBusy) = ([], false)
        generation += 1
    }
}
