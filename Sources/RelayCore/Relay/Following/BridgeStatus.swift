import RelayWire

/// The status of a bridge, for people and for programs that watch it.
package enum Bridge1: EventInterface {
    package static let name = MirrorName.bridge
    package static let durability = Volatile()
    package static var contract: Contract<Self> { BridgeStatus.self }
}

/// How a bridge's exports and mirrors are. Changes once a second at most.
package struct BridgeStatus: DomainDocument, Hashable {
    package typealias Interface = Bridge1
    package struct Export: Codable, Hashable, Sendable {
        package var service: String
        package var interface: String
        /// Up to here the channel has what the origin has; the origin's last event; how many events lie between.
        package var position: UInt64 = 0
        package var head: UInt64 = 0
        package var lag: UInt64 = 0
        /// How old the oldest event is that is not acknowledged, in seconds.
        package var lagSeconds: Double = 0
        /// How many events the origin's retention may remove before it comes to what is not exported.
        package var margin: UInt64 = 0
        /// Events and messages that were appended since the bridge began.
        package var events: UInt64 = 0
        package var messages: UInt64 = 0
        /// How often the channel's end was looked up.
        package var resyncs: UInt64 = 0
        /// The last event that the stream for other consumers has, if there is one.
        package var cloudEvents: UInt64 = 0
        /// What keeps it from going on; empty: nothing does.
        package var trouble: String = ""

        package init(service: String, interface: String) { (self.service, self.interface) = (service, interface) }
    }
    package struct Mirror: Codable, Hashable, Sendable {
        package var host: String
        package var service: String
        package var interface: String
        /// The last event that the replica has, the channel's last that is known, and how many lie between.
        package var position: UInt64 = 0
        package var head: UInt64 = 0
        package var lag: UInt64 = 0
        /// How old the replica's last event is while there is a lag, in seconds.
        package var lagSeconds: Double = 0
        /// Messages that it has taken in since the bridge began, and how many the channel has behind them.
        package var messages: UInt64 = 0
        package var lagMessages: UInt64 = 0
        /// Messages that brought nothing, which another exporter had sent before.
        package var duplicates: UInt64 = 0
        /// Ranges of events that the channel did not have.
        package var gaps: UInt64 = 0
        /// How often the channel was looked up.
        package var resyncs: UInt64 = 0
        package var isServing = false
        package var trouble: String = ""

        package init(host: String, service: String, interface: String) {
            (self.host, self.service, self.interface) = (host, service, interface)
        }
        /// The mirror's name on the bus.
        package var name: String { (try? MirrorName(of: service, at: host).description) ?? "" }
    }
    /// This host's name in its exports.
    package var host = ""
    package var carrier = ""
    /// What an acknowledgement of the carrier means, in a sentence; empty: it has not said it yet.
    package var guarantee = ""
    package var exports: [Export] = []
    package var mirrors: [Mirror] = []
    package init() {}
    package static let initial = Self()
}

extension BridgeStatus {
    /// What asks a bridge for this: its `Schemas`, and the document.
    package static func calls() throws -> [MethodCall] {
        var name = WireWriter()
        try name.string(Self.name)
        let path = Stream1.path(of: Bridge1.name)
        return [("Schemas", Signature.empty, []), ("GetDocument", try Signature("s"), name.takeBytes())].map {
            MethodCall(
                to: Bridge1.name, path: path, interface: Stream1.name, member: $0, signature: $1, body: $2,
                flags: .noAutoStart)
        }
    }
    /// Reads the answers to those, of a bridge of any version.
    package init(_ answers: [BusReply]) throws {
        guard answers.count == 2 else { throw RelayError(.unavailable, "a bridge has not answered") }
        let schemas = StreamSchemas(try answers[0].read(Stream1.schemasSignature) { try Stream1.readSchemas(&$0) })
        let document = try answers[1].read(Stream1.documentSignature) { try Stream1.readDocument(&$0) }
        guard let fields = schemas.format(document.schema)?.fields, document.signature == "(\(fields.signature))" else {
            throw RelayError(.schemaMismatch, "\(Bridge1.name) does not report the fields of \(Self.name)")
        }
        let codec = try WireCodec(event: Self.self)
        let translation = try WireTranslation(from: fields, to: codec.schema.fields, .reading, of: Self.name)
        self = try document.fields.withUnsafeBytes { try codec.decode($0, by: translation) }
    }
}
