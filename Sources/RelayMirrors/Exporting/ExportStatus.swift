package import RelayCore

/// How the export of one interface stands, for people.
package struct ExportStatus: Hashable, Sendable {
    package let interface: String
    /// Up to here the channel has what the origin has; nil: that is not known yet.
    package var position: UInt64?
    /// The run of the last page.
    package var epoch: UInt64?
    /// The origin's last event that is known.
    package var head: UInt64 = 0
    /// The origin's oldest event that is known.
    package var oldest: UInt64 = 0
    /// The channel's last number.
    package var number: UInt64 = 0
    /// Events and messages that were appended since the exporter began.
    package var events: UInt64 = 0
    package var messages: UInt64 = 0
    /// When the oldest event was published that was read, and is not acknowledged; nil: there is none.
    package var waitingSince: Timestamp?
    /// How often the channel's end was looked up.
    package var resyncs: UInt64 = 0
    /// What keeps it from going on; nil: nothing does.
    package var error: String?

    package init(interface: String) { self.interface = interface }
    /// How many events the origin's retention may remove before it comes to what the channel lacks; nil: that is not
    /// known yet.
    package var margin: UInt64? { position.map { $0 + 1 - min(oldest, $0 + 1) } }
    /// How many events the channel lacks.
    package var lag: UInt64 { position.map { head - min(head, $0) } ?? head }
}
