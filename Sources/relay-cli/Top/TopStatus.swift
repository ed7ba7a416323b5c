import RelayCore
import RelayTool
import RelayWire

/// What `top` reads of an interface's `Status`; services report more or less of it.
struct TopStatus: Equatable, Sendable {
    var head: UInt64?
    var ringIsOpen: Bool?
    /// How many peers were refused a place at it.
    var ringLacking: UInt64?
    var signalsPaused: Bool?
    /// nil: the service does not report them.
    var subscribers: StatusSubscribers?

    static func read(_ reader: inout WireReader) throws(WireFault) -> TopStatus {
        var status = TopStatus()
        try StatusReply.walk(&reader) { (name, signature, reader) throws(WireFault) in
            switch (name, signature.text) {
            case ("Head", "t"): status.head = try reader.uint64()
            case ("RingOpen", "b"): status.ringIsOpen = try reader.bool()
            case ("RingLacking", "t"): status.ringLacking = try reader.uint64()
            case ("SignalsPaused", "b"): status.signalsPaused = try reader.bool()
            case ("Subscribers", StatusSubscribers.signature):
                status.subscribers = try StatusSubscribers.read(&reader)
            default: return false
            }
            return true
        }
        return status
    }
}
