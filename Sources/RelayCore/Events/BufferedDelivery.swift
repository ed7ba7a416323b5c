/// What a publisher offers events to, under its lock: nothing here may run code of others.
protocol BufferedDelivery: AnyObject, Sendable {
    /// Whether the subscriber sees stamps, so that the clock has to be read.
    var showsStamps: Bool { get }
    func offer(_ event: AnyEventBox, _ stamp: Stamp, _ after: inout Aftermath)
    func offer(_ gap: Gap, _ after: inout Aftermath)
    /// The publisher is gone: ends after what is held.
    func end(_ after: inout Aftermath)
}
