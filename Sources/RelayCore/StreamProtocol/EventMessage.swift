/// An event that has its place in a stream.
package struct PlacedEvent: Hashable, Sendable {
    /// Its number among the interface's events.
    package let index: Int
    package let sequence: UInt64
    /// The sequence of the preceding event of the same name, 0 when there is none.
    package let previous: UInt64
    package let publishedAt: Timestamp

    @inline(__always)
    init(index: Int, sequence: UInt64, previous: UInt64, publishedAt: Timestamp) {
        (self.index, self.sequence, self.previous, self.publishedAt) = (index, sequence, previous, publishedAt)
    }
}

/// An event as a whole message: header, fields, and the stamp, which is empty until the event has its place.
struct EventMessage {
    /// Without a serial, which the connection that sends it has.
    var writer: WireWriter
    /// Where the fields are.
    let fields: Range<Int>
    /// No larger than a message may be. One that is was committed in spite of that: it will be missed, and read.
    let isSendable: Bool

    /// `encode` appends the fields. Throws what that throws, and `TooLarge`.
    init(_ template: MessageTemplate, _ encode: (inout WireWriter) throws -> Void) throws {
        writer = WireWriter(capacity: template.bodyStart + 256)
        template.begin(&writer)
        try encode(&writer)
        fields = template.bodyStart..<writer.count
        for _ in 0..<3 { writer.uint64(0) }
        // The serial is filled in by the connection which sends it.
        try template.finish(&writer, serial: 1)
        isSendable = true
    }
    /// What was committed, in memory that is taken, and given back by `takeMemory`.
    init(_ template: MessageTemplate, _ event: CommittedEvent, in memory: inout WireWriter) {
        writer = .empty
        swap(&writer, &memory)
        template.begin(&writer)
        writer.append(event.body)
        fields = template.bodyStart..<template.bodyStart + event.fieldsLength
        isSendable = (try? template.finish(&writer, serial: 1)) != nil
    }
    mutating func takeMemory(into memory: inout WireWriter) { swap(&writer, &memory) }
    var count: Int { writer.count }

    /// Fills the stamp in.
    mutating func stamp(_ event: PlacedEvent) {
        let stamp = writer.count - 3 * 8
        writer.patch(event.sequence, at: stamp)
        writer.patch(event.previous, at: stamp + 8)
        writer.patch(event.publishedAt.microseconds, at: stamp + 16)
    }
    /// Fields and stamp.
    var body: [UInt8] { writer.withUnsafeBytes { Array($0[fields.lowerBound...]) } }
}

/// What an outlet that needs no message gets of an event. Valid during the call that it is given to.
struct EventPayload {
    private let bytes: UnsafeRawBufferPointer?

    /// The fields, as the message has them.
    static var fields: Self { Self(bytes: nil) }
    /// The bytes of the value.
    static func value(_ bytes: UnsafeRawBufferPointer) -> Self { Self(bytes: bytes) }

    func count(in message: borrowing EventMessage) -> Int { bytes?.count ?? message.fields.count }
    @inline(__always)
    func withBytes<Result>(in message: borrowing EventMessage, _ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        if let bytes { return body(bytes) }
        let fields = message.fields
        return message.writer.withUnsafeBytes { body(UnsafeRawBufferPointer(rebasing: $0[fields])) }
    }
}
