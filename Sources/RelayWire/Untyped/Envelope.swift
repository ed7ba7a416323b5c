public import RelayEvents

/// An event without its Swift type.
///
/// ```swift
/// for await case .event(let event, let stamp) in try relay.envelopes(of: "org.example.Printing1") {
///     print(stamp.sequence, event.name, try event.values())
/// }
/// ```
public struct Envelope: Sendable {
    /// The interface's name.
    public let interface: String
    /// The event's name.
    public let name: String
    /// The D-Bus signature of ``body``.
    public let signature: String
    /// The arguments of the event's signal in the wire encoding, little-endian: the fields, then the three of the stamp.
    public let body: [UInt8]
    /// The event's place in its stream.
    public let stamp: Stamp
    /// The fields that it was written with; nil if the service has not reported them.
    public let fields: [WireField]?
    /// What brought it.
    package let transport: Transport

    package enum Transport: Sendable { case signal, ring, journal }

    package init(
        interface: String, name: String, signature: String, body: [UInt8], stamp: Stamp, fields: [WireField]? = nil,
        transport: Transport = .signal
    ) {
        (self.interface, self.name, self.signature) = (interface, name, signature)
        (self.body, self.stamp, self.fields, self.transport) = (body, stamp, fields, transport)
    }
    /// The values of the fields, in their order.
    ///
    /// - Returns: a value for each field.
    /// - Throws: `.invalidArgument` for a body that is not of its signature.
    public func values() throws -> [DBusValue] {
        Array(try DBusValue.decode(signature: Signature(signature), body: body).dropLast(WireSchema.stampNames.count))
    }
}
