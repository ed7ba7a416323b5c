/// An event without its Swift type: what the transports carry, and what tools show.
package struct Envelope: Sendable {
    package let interface: String
    package let name: String
    /// Of the fields and the three arguments of the stamp.
    package let signature: String
    /// The signal's body: the fields, then the stamp.
    package let body: [UInt8]
    package let stamp: Stamp
    /// The fields that it was written with, by name; nil if the service has not reported them.
    package let fields: [WireField]?
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
}
