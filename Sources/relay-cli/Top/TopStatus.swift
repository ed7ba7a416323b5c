import RelayCore

/// What `top` reads of an interface's `Status`; services report more or less of it.
struct TopStatus: Equatable, Sendable {
    struct Subscriber: Equatable, Sendable {
        let peer: String
        /// `*`: all.
        let names: [String]
        /// "ring" or "signal"
        let transport: String
        /// The last that it has got; 0: unknown.
        let sequence: UInt64
    }
    /// More are not shown, and not kept.
    static let mostSubscribers = 1_000

    var head: UInt64?
    var ringIsOpen: Bool?
    var signalsPaused: Bool?
    var subscribers: [Subscriber]?

    static let signature = "a{sv}"
    /// Throws `WireFault` or `RelayError` for a reply that is none; a value of another type than expected counts as
    /// absent.
    static func read(_ reader: inout WireReader) throws -> TopStatus {
        var status = TopStatus()
        let end = try reader.beginArray(elementAlignment: 8)
        let start = reader.position
        while reader.position < end {
            try reader.align(8)
            let name = try reader.string()
            let signature = try reader.signature()
            switch (name, signature.text) {
            case ("Head", "t"): status.head = try reader.uint64()
            case ("RingOpen", "b"): status.ringIsOpen = try reader.bool()
            case ("SignalsPaused", "b"): status.signalsPaused = try reader.bool()
            case ("Subscribers", "a(sasst)"): status.subscribers = try subscribers(&reader)
            default: for type in signature.types { try reader.skip(type) }
            }
        }
        try reader.endArray(end, elements: start)
        return status
    }
    private static func subscribers(_ reader: inout WireReader) throws(WireFault) -> [Subscriber] {
        var found: [Subscriber] = []
        let end = try reader.beginArray(elementAlignment: 8)
        let start = reader.position
        while reader.position < end {
            try reader.align(8)
            let peer = try reader.string()
            var names: [String] = []
            let namesEnd = try reader.beginArray(elementAlignment: 4)
            let namesStart = reader.position
            while reader.position < namesEnd { names.append(try reader.string()) }
            try reader.endArray(namesEnd, elements: namesStart)
            let subscriber = Subscriber(
                peer: peer, names: names, transport: try reader.string(), sequence: try reader.uint64())
            if found.count < mostSubscribers { found.append(subscriber) }
        }
        try reader.endArray(end, elements: start)
        return found
    }
}
