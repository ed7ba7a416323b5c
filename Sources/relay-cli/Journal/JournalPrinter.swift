import RelayCore
import RelayTool

/// Writes what the journal has. The seam between reading and the forms of output.
protocol JournalPrinter {
    /// Takes the schemas of an interface, in the order of the sources' numbers; once more when a page has a number that they lack.
    mutating func learn(_ schemas: [UInt32: EventSchema], of interface: String, source: Int) throws(CLIFailure)
    /// What stands before all events; once every interface's schemas are known.
    mutating func begin(_ output: inout ByteBuffer) throws(CLIFailure)
    /// Whether a schema's number is known.
    func knows(_ schema: UInt32, source: Int) -> Bool
    mutating func append(
        _ event: StoredPage.Event, _ body: UnsafeRawBufferPointer, source: Int, to output: inout ByteBuffer
    ) throws(CLIFailure)
    /// `now` is when the gap was noticed, in microseconds since the Unix epoch.
    mutating func append(_ gap: Gap, of interface: String, now: UInt64, to output: inout ByteBuffer)
}
