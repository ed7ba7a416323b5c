package import RelayWire

/// An event of a durable interface, as its log gets it. Without its place: it is handed from queue to queue, and a log
/// keeps the places beside.
package struct LoggedEvent: Sendable {
    /// Its number among the interface's events.
    package let index: Int
    /// A signal's whole body: the fields, padding, and the stamp, which is empty until the event has its place.
    package private(set) var body: [UInt8]
    /// How many of the body's bytes are the fields.
    package let fieldsLength: Int

    /// - Parameter fields: is empty then: what was written is taken, with its memory.
    package init(_ index: Int, _ fields: inout WireWriter) {
        (self.index, fieldsLength) = (index, fields.count)
        Stamp.reserve(in: &fields)
        body = fields.takeBytes()
    }
    /// An event of another host's, which has its place.
    package init(_ index: Int, stamped body: UnsafeRawBufferPointer, fieldsLength: Int) {
        (self.index, self.fieldsLength) = (index, fieldsLength)
        self.body = Array(body)
    }
    /// Fills the stamp in, where the body is, if nobody else holds that.
    package mutating func enter(_ stamp: Stamp) { stamp.enter(&body) }
}
