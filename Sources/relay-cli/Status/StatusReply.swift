import RelayCore
import RelayWire

/// The reply of `Status`, walked in one place for all that read it: `status`, `top` and `metrics`.
enum StatusReply {
    static let signature = "a{sv}"
    /// More are passed over: no service has so much to report.
    static let mostEntries = 1_000

    /// Calls `take` with each entry's name and type, and the reader at its value. What `take` does not read, and so
    /// answers with false, is skipped: a value of another type than expected counts as absent.
    ///
    /// - Parameter whole: is given each entry before that, with a reader of its own at the variant.
    static func walk(
        _ reader: inout WireReader, whole: (String, inout WireReader) throws(WireFault) -> Void = { _, _ in },
        _ take: (String, Signature, inout WireReader) throws(WireFault) -> Bool
    ) throws(WireFault) {
        let end = try reader.beginArray(elementAlignment: 8)
        let start = reader.position
        var count = 0
        while reader.position < end {
            try reader.align(8)
            let name = try reader.string()
            count += 1
            if count <= mostEntries {
                var copy = reader
                try whole(name, &copy)
            }
            let signature = try reader.signature()
            if count <= mostEntries, try take(name, signature, &reader) { continue }
            for type in signature.types { try reader.skip(type) }
        }
        try reader.endArray(end, elements: start)
    }
}

/// One that is attached to an interface, as the service reports it.
struct StatusSubscriber: Hashable, Sendable {
    let peer: String
    /// `*`: all.
    let names: [String]
    /// `ring` or `signal`
    let transport: String
    /// The last that it has got; 0: unknown.
    let sequence: UInt64

    /// How many events it has yet to get; nil: it does not report it.
    func lag(behind head: UInt64?) -> UInt64? {
        guard sequence > 0, let head else { return nil }
        return head > sequence ? head - sequence : 0
    }
    var receivesAll: Bool { names.contains("*") }
}

/// The subscribers of an interface: as many as are kept, and how many there are.
struct StatusSubscribers: Hashable, Sendable {
    /// More are counted, and not kept.
    static let most = 1_000
    /// Of one subscriber; more are passed over.
    static let mostNames = 1_000
    static let signature = "a(sasst)"

    var listed: [StatusSubscriber] = []
    /// Those that are not listed, too.
    var count = 0
    var others: Int { count - listed.count }

    init() {}
    init(_ listed: [StatusSubscriber]) { (self.listed, count) = (listed, listed.count) }

    static func read(_ reader: inout WireReader) throws(WireFault) -> Self {
        var found = Self()
        let end = try reader.beginArray(elementAlignment: 8)
        let start = reader.position
        while reader.position < end {
            try reader.align(8)
            let peer = try reader.string()
            var names: [String] = []
            let namesEnd = try reader.beginArray(elementAlignment: 4)
            let namesStart = reader.position
            while reader.position < namesEnd {
                let name = try reader.string()
                if names.count < mostNames { names.append(name) }
            }
            try reader.endArray(namesEnd, elements: namesStart)
            let subscriber = StatusSubscriber(
                peer: peer, names: names, transport: try reader.string(), sequence: try reader.uint64())
            found.count += 1
            if found.listed.count < most { found.listed.append(subscriber) }
        }
        try reader.endArray(end, elements: start)
        return found
    }
}
