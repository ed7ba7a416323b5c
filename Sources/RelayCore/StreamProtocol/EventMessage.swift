import RelayWire

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
        Stamp.reserve(in: &writer)
        // The serial is filled in by the connection which sends it.
        try template.finish(&writer, serial: 1)
        isSendable = true
    }
    /// What was committed, in memory that is taken, and given back by `takeMemory`.
    init(_ template: MessageTemplate, _ event: LoggedEvent, in memory: inout WireWriter) {
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
    mutating func enter(_ stamp: Stamp) { stamp.enter(&writer) }
    /// Fields and stamp.
    var body: [UInt8] { writer.withUnsafeBytes { Array($0[fields.lowerBound...]) } }
    /// What a record of the ring has of it: the fields, unless the value's own bytes are given.
    @inline(__always)
    func withPayload<Result>(_ value: UnsafeRawBufferPointer?, _ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        if let value { return body(value) }
        return writer.withUnsafeBytes { body(UnsafeRawBufferPointer(rebasing: $0[fields])) }
    }
}
