import RelayCore

/// An event as it came off the bus.
struct ObservedEvent: Equatable, Sendable {
    let interface: String
    let name: String
    /// Of the whole body: the fields, then the stamp's three.
    let signature: String
    let body: [UInt8]
    let stamp: Stamp
}
