import RelayCore

/// What a service reports of one of its interfaces, and what was found out beside it.
struct ServiceStatus: Equatable, Sendable {
    struct Subscriber: Equatable, Sendable {
        let peer: String
        /// `*`: all.
        let names: [String]
        /// `ring` or `signal`
        let transport: String
        /// The last that it has got; 0: unknown.
        let sequence: UInt64
    }
    /// An entry of the reply, its value as JSON.
    struct Entry: Equatable, Sendable {
        let name: String
        let value: [UInt8]
    }

    var entries: [Entry] = []
    var epoch: UInt64?
    var head: UInt64?
    /// nil: nothing can be read.
    var oldest: UInt64?
    var ringCapacity: UInt64?
    var ringIsOpen = false
    var signalsPause = false
    var events: UInt64?
    var bytes: UInt64?
    var fileBytes: UInt64?
    var logBytes: UInt64?
    var freeBytes: UInt64?
    var isChecked: Bool?
    var subscribers: [Subscriber] = []

    static let signature = "a{sv}"
    /// Throws `WireFault` or `RelayError` for a reply that is none; a value of another type than expected counts as
    /// absent.
    static func read(_ reader: inout WireReader) throws -> ServiceStatus {
        var status = ServiceStatus()
        let end = try reader.beginArray(elementAlignment: 8)
        let start = reader.position
        while reader.position < end {
            try reader.align(8)
            let name = try reader.string()
            // Once as JSON, and once for what is known of it.
            var copy = reader
            var value = ByteBuffer()
            try ValuePrinter.append(.variant, from: &copy, to: &value)
            try status.take(name, &reader)
            status.entries.append(Entry(name: name, value: status.json(name, value.bytes)))
        }
        try reader.endArray(end, elements: start)
        return status
    }
    /// A run's number is a text, as everywhere: readers of JSON round what is above 2^53. No oldest event is null.
    private func json(_ name: String, _ value: [UInt8]) -> [UInt8] {
        switch name {
        case "Epoch" where epoch != nil: [UInt8(ascii: "\"")] + value + [UInt8(ascii: "\"")]
        case "Oldest" where oldest == nil: Array("null".utf8)
        default: value
        }
    }

    private mutating func take(_ name: String, _ reader: inout WireReader) throws {
        let signature = try reader.signature()
        switch (name, signature.text) {
        case ("Epoch", "t"): epoch = try reader.uint64()
        case ("Head", "t"): head = try reader.uint64()
        case ("Oldest", "t"):
            let sequence = try reader.uint64()
            oldest = sequence == .max ? nil : sequence
        case ("RingCapacity", "t"): ringCapacity = try reader.uint64()
        case ("RingOpen", "b"): ringIsOpen = try reader.bool()
        case ("SignalsPaused", "b"): signalsPause = try reader.bool()
        case ("Events", "t"): events = try reader.uint64()
        case ("Bytes", "t"): bytes = try reader.uint64()
        case ("FileBytes", "t"): fileBytes = try reader.uint64()
        case ("WalBytes", "t"): logBytes = try reader.uint64()
        case ("FreeBytes", "t"): freeBytes = try reader.uint64()
        case ("Checked", "t"): isChecked = try reader.uint64() != 0
        case ("Subscribers", "a(sasst)"): subscribers = try Self.subscribers(&reader)
        default: for type in signature.types { try reader.skip(type) }
        }
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
            found.append(
                Subscriber(peer: peer, names: names, transport: try reader.string(), sequence: try reader.uint64()))
        }
        try reader.endArray(end, elements: start)
        return found
    }

    /// How many events a subscriber has yet to get; nil: it does not report that.
    func lag(of subscriber: Subscriber) -> UInt64? {
        guard subscriber.sequence > 0, let head else { return nil }
        return head > subscriber.sequence ? head - subscriber.sequence : 0
    }
}

/// An interface as `status` shows it.
struct InterfaceStatus: Equatable, Sendable {
    let interface: String
    let isDurable: Bool
    /// nil: the service does not report it.
    var status: ServiceStatus?
    /// When the last event was published, and the oldest that is kept, in microseconds since the Unix epoch.
    var lastAt: UInt64?
    var oldestAt: UInt64?
}
