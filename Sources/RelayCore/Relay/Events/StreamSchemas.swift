/// The fields of an interface's events, by schema number, as its present service reports them. Some are of rows that
/// older versions of it wrote.
package final class StreamSchemas: Sendable {
    package let byNumber: [UInt32: EventSchema]
    /// Of several schemas of one event the highest number is the present one.
    private let present: [String: UInt32]

    package init(_ byNumber: [UInt32: EventSchema]) {
        self.byNumber = byNumber
        var present: [String: UInt32] = [:]
        for (number, schema) in byNumber { present[schema.event] = max(present[schema.event] ?? 0, number) }
        self.present = present
    }
    var names: Set<String> { Set(present.keys) }
    /// The number that an event's signals have; it is not in them.
    func present(of name: String) -> UInt32? { present[name] }
    func fields(_ number: UInt32?) -> [WireField]? { number.flatMap { byNumber[$0]?.fields } }
}
