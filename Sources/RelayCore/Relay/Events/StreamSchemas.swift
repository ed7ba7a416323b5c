package import RelayWire

/// The formats of an interface's events, by schema number, as its present service reports them. Some are of rows that
/// older versions of it wrote.
package final class StreamSchemas: Sendable {
    package let byNumber: [UInt32: EventSchema]
    private let formats: [UInt32: EventFormat]
    private let present: [String: EventFormat]

    package init(_ byNumber: [UInt32: EventSchema]) {
        self.byNumber = byNumber
        // Of several schemas of one event the highest number is the present one.
        var numbers: [String: UInt32] = [:]
        for (number, schema) in byNumber { numbers[schema.event] = max(numbers[schema.event] ?? 0, number) }
        var (formats, present): ([UInt32: EventFormat], [String: EventFormat]) = ([:], [:])
        for (number, schema) in byNumber {
            let isPresent = numbers[schema.event] == number
            let format = EventFormat(number, schema, isPresent: isPresent)
            formats[number] = format
            if isPresent { present[schema.event] = format }
        }
        (self.formats, self.present) = (formats, present)
    }
    var names: Set<String> { Set(present.keys) }
    /// What an event's signals have; they do not name it.
    func present(of name: String) -> EventFormat? { present[name] }
    func format(_ number: UInt32) -> EventFormat? { formats[number] }
}
