import RelayCore
import RelayTool
import RelayWire

/// What a service reports of one of its interfaces, and what was found out beside it.
struct ServiceStatus: Equatable, Sendable {
    /// An entry of the reply, its value as JSON.
    struct Entry: Equatable, Sendable {
        let name: String
        let value: [UInt8]
    }

    var entries: [Entry] = []
    /// Of the Relay that the service is built with; nil: it does not report it.
    var version: String?
    var epoch: UInt64?
    var head: UInt64?
    /// nil: nothing can be read.
    var oldest: UInt64?
    var ringCapacity: UInt64?
    var ringIsOpen = false
    /// How many peers asked for it, and were refused for want of a place; a service that is older reports none.
    var ringLacking: UInt64 = 0
    var signalsPause = false
    var events: UInt64?
    var bytes: UInt64?
    var fileBytes: UInt64?
    var walBytes: UInt64?
    var freeBytes: UInt64?
    var isChecked: Bool?
    /// Why the journal's disk refuses commits at this moment, as an errno; nil: it takes them.
    var storageError: UInt64?
    var subscribers = StatusSubscribers()

    /// Those who are subscribed by it: that a ring was opened once does not mean that anybody has it.
    var ringReaders: String {
        let count = subscribers.listed.count { $0.transport == "ring" }
        if count == 0 { return ringIsOpen ? "nobody reads it now" : "nobody has asked for it" }
        let least = subscribers.others > 0 ? "at least " : ""
        return least + Quantity.count(UInt64(count), "subscriber") + (count == 1 ? " reads it" : " read it")
    }
    /// Who would read it; nil: nobody.
    var ringSeekers: String? {
        ringLacking == 0
            ? nil
            : Quantity.count(ringLacking, "peer") + (ringLacking == 1 ? " has" : " have") + " no place at it: signals"
    }

    /// The kernel's words for `storageError`.
    var storageReason: String? { storageError.map { "\(SystemError(Int32(clamping: $0)))" } }

    static func read(_ reader: inout WireReader) throws(WireFault) -> ServiceStatus {
        var status = ServiceStatus()
        var values: [(name: String, json: [UInt8])] = []
        // Once as JSON, and once for what is known of it.
        try StatusReply.walk(&reader) { (name, reader) throws(WireFault) in
            var value = ByteBuffer()
            try ValuePrinter.append(.variant, from: &reader, to: &value)
            values.append((name, value.bytes))
        } _: { (name, signature, reader) throws(WireFault) in
            try status.take(name, signature, &reader)
        }
        status.entries = values.map { Entry(name: $0.name, value: status.json($0.name, $0.json)) }
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

    /// False for what is not known.
    private mutating func take(
        _ name: String, _ signature: Signature, _ reader: inout WireReader
    ) throws(WireFault) -> Bool {
        switch (name, signature.text) {
        case ("Version", "s"): version = try reader.string()
        case ("Epoch", "t"): epoch = try reader.uint64()
        case ("Head", "t"): head = try reader.uint64()
        case ("Oldest", "t"):
            let sequence = try reader.uint64()
            oldest = sequence == .max ? nil : sequence
        case ("RingCapacity", "t"): ringCapacity = try reader.uint64()
        case ("RingOpen", "b"): ringIsOpen = try reader.bool()
        case ("RingLacking", "t"): ringLacking = try reader.uint64()
        case ("SignalsPaused", "b"): signalsPause = try reader.bool()
        case ("Events", "t"): events = try reader.uint64()
        case ("Bytes", "t"): bytes = try reader.uint64()
        case ("FileBytes", "t"): fileBytes = try reader.uint64()
        case ("WalBytes", "t"): walBytes = try reader.uint64()
        case ("FreeBytes", "t"): freeBytes = try reader.uint64()
        case ("Checked", "t"): isChecked = try reader.uint64() != 0
        case ("StorageError", "t"): storageError = try reader.uint64()
        case ("Subscribers", StatusSubscribers.signature): subscribers = try StatusSubscribers.read(&reader)
        default: return false
        }
        return true
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
