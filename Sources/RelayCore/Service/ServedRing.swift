/// A lane's ring, for use under the lane's lock.
struct ServedRing: Sendable {
    let writer: RingWriter
    /// Who has opened it.
    var readers: [String: WaitPage] = [:]
    /// The same, for who publishes: without the two atomic counts that each copy of a reference costs.
    private let reference: Unmanaged<RingWriter>

    init(_ writer: RingWriter) { (self.writer, reference) = (writer, .passUnretained(writer)) }

    /// Returns the writer if somebody sleeps, to be woken when the lock is free, or before a signal.
    @inline(__always)
    func put(_ record: RingRecord, _ payload: UnsafeRawBufferPointer) -> RingWriter? {
        // Kept by `writer`. Neither number, size nor sequence can be refused: they are the lane's.
        reference._withUnsafeGuaranteedRef { $0.putExclusively(record, payload) } ? writer : nil
    }
}
