/// Whose turn it is to `Read`, as a value: one request at a time for a service, round robin, with the token of the last
/// answer.
struct ReadQueue<Reader: Hashable> {
    private var waiting: [Reader] = []
    /// Who has asked, and for which of its requests.
    private(set) var isBusy = false
    /// What the last answer gave, to be given back with the next request: the proof that it was read.
    private(set) var token: UInt64 = 0
    /// Counts the owners of the service: answers of a former one are none of this queue's.
    private(set) var generation = 0
    /// The last answer was large, and its proof is still due.
    private var owesProof = false
    /// What may stay unproved for as long as this relay lives: it counts against what all of a user's relays may have.
    private static var unprovedLimit: Int { 4_096 }

    /// Lines up. A reader that waits already keeps its place.
    mutating func ask(_ reader: Reader) {
        if !waiting.contains(reader) { waiting.append(reader) }
    }
    mutating func withdraw(_ reader: Reader) { waiting.removeAll { $0 == reader } }

    /// The next reader, of those that can read. The request counts as sent; `answered` follows.
    mutating func next(where canRead: (Reader) -> Bool = { _ in true }) -> Reader? {
        guard !isBusy, let index = waiting.firstIndex(where: canRead) else { return nil }
        (isBusy, owesProof) = (true, false)
        return waiting.remove(at: index)
    }
    /// The answer is here; nil: there is none, or it was an error, which leaves the token as it was.
    ///
    /// True: if nobody reads on for a while, a request of its own is to give the token back; see `proves`.
    @discardableResult mutating func answered(_ answer: (token: UInt64, size: Int)?) -> Bool {
        isBusy = false
        guard let answer else { return false }
        token = answer.token
        owesProof = answer.size > Self.unprovedLimit
        return owesProof
    }
    /// Whether a token has not been given back yet. Then a request whose answer is empty counts as sent; `answered`
    /// follows.
    mutating func proves(_ token: UInt64) -> Bool {
        guard !isBusy, owesProof, token == self.token else { return false }
        (isBusy, owesProof) = (true, false)
        return true
    }
    /// Another owner, or none: what was asked of this one gets no answer that counts.
    mutating func forgetOwner() {
        (waiting, isBusy, token, owesProof) = ([], false, 0, false)
        generation += 1
    }
}
