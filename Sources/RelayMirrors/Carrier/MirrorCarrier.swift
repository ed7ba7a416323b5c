package import RelayCore

/// The numbers that a channel has messages of. Empty: `first` is `last` + 1.
package struct ChannelBounds: Hashable, Sendable {
    package let first: UInt64
    /// An append behind the last message expects this.
    package let last: UInt64
    package init(first: UInt64, last: UInt64) { (self.first, self.last) = (first, last) }
}

/// Reads a channel, over one connection.
///
/// What is read through one connection stays as it is, but that messages go from the beginning: if the carrier sets its
/// numbers back, the connection has ended before, and every call throws. See "The carrier" in MIRRORS.md.
package protocol MirrorSource: Sendable {
    func bounds() async throws(RelayError) -> ChannelBounds
    /// A message's bytes; nil: there is none of this number.
    func message(_ number: UInt64) async throws(RelayError) -> [UInt8]?
    /// The number of the newest message whose header has this kind; nil: there is none. Messages of others may be
    /// passed over or not.
    func newest(_ kind: MirrorHeader.Kind) async throws(RelayError) -> UInt64?
    /// Returns once there is a message behind this number.
    func wait(behind number: UInt64) async throws(RelayError)
}

/// Appends to a channel, over one connection, which reads as well.
package protocol MirrorSink: MirrorSource {
    /// Adds a message behind the number `last`. Returns false, and adds nothing, if the channel ends elsewhere. If it
    /// throws, either may have happened; it takes no effect later than that.
    func append(_ message: [UInt8], expecting last: UInt64) async throws(RelayError) -> Bool
}
