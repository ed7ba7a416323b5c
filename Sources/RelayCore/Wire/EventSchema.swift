/// The fields of an event as its publisher has them: what `Schemas` answers, by number.
package struct EventSchema: Hashable, Sendable {
    package var event: String
    package var fields: [WireField]
    package init(event: String, fields: [WireField]) { (self.event, self.fields) = (event, fields) }
}
