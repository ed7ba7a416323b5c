import RelayCore
import RelayMirrors

/// The status of a bridge, for people and for programs that watch it.
enum Bridge1: EventInterface {
    static let name = MirrorName.bridge
    static let durability = Volatile()
    static var contract: Contract<Self> { BridgeStatus.self }
}

/// Changes once a second at most.
struct BridgeStatus: DomainDocument, Hashable {
    typealias Interface = Bridge1
    struct Export: Codable, Hashable, Sendable {
        let service: String
        let interface: String
        /// Up to here the channel has what the origin has; the origin's last event; how many events lie between.
        let position: UInt64
        let head: UInt64
        let lag: UInt64
        /// For how long there has been a lag, in seconds.
        let lagSeconds: Double
        /// How many events the origin's retention may remove before it comes to what is not exported.
        let margin: UInt64
        /// Events and messages that were appended since the bridge began.
        let events: UInt64
        let messages: UInt64
        /// What keeps it from going on; empty: nothing does.
        let trouble: String
    }
    struct Mirror: Codable, Hashable, Sendable {
        let host: String
        let service: String
        let interface: String
        /// The last event that the replica has.
        let position: UInt64
        /// Messages that it has taken in since the bridge began, and how many the channel has behind them.
        let messages: UInt64
        let lagMessages: UInt64
        let isServing: Bool
        let trouble: String
    }
    var exports: [Export]
    var mirrors: [Mirror]
    static let initial = Self(exports: [], mirrors: [])
}
