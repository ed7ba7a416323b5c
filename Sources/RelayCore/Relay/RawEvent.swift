/// An event as it lies in a message. Valid during the call that shows it.
package struct RawEvent {
    /// What tells its fields; nil before the service has answered.
    let schemas: LaneSchemas?
    /// nil: the present one's number is not known.
    let schema: UInt32?
    /// Of a signal's body.
    let signature: UnsafeRawBufferPointer
    let body: UnsafeRawBufferPointer
    /// It came as a signal, not in a page of the journal.
    let isLive: Bool

    /// The last 24 bytes of a body: three numbers, aligned as the body is.
    static func stamp(of body: UnsafeRawBufferPointer, epoch: UInt64) -> Stamp? {
        guard body.count >= 24, body.count % 8 == 0 else { return nil }
        func number(_ offset: Int) -> UInt64 {
            // In bounds: counted above.
            UInt64(littleEndian: body.loadUnaligned(fromByteOffset: body.count - 24 + offset, as: UInt64.self))
        }
        return Stamp(
            epoch: epoch, sequence: number(0), previous: number(8), publishedAt: Timestamp(microseconds: number(16)))
    }
}
