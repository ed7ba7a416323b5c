package import RelayCore

/// Keeps channels: what carries messages from exporters to mirrors. See "The carrier" in MIRRORS.md.
package protocol MirrorCarrier: Sendable {
    /// A connection that reads. There need be no such channel yet: it is empty then.
    func source(of channel: ChannelName) async throws(RelayError) -> any MirrorSource
    /// A connection that appends. Makes the channel where there is none.
    func sink(of channel: ChannelName) async throws(RelayError) -> any MirrorSink
    /// Those that there are, by host, service and interface.
    func channels() async throws(RelayError) -> [ChannelName]
    /// What it means that a message was acknowledged, as far as that can be asked: a sentence for people.
    func guarantee() async throws(RelayError) -> String
}

/// The numbers that a channel has messages of. Empty: `first` is `last` + 1.
package struct ChannelBounds: Hashable, Sendable {
    package let first: UInt64
    /// An append behind the last message expects this.
    package let last: UInt64
    package init(first: UInt64, last: UInt64) { (self.first, self.last) = (first, last) }
}

/// Consecutive messages of a channel, in memory that they share.
package struct MessageBatch: Sendable {
    /// The number of the first one.
    package let first: UInt64
    private let bytes: [UInt8]
    private let ranges: [Range<Int>]

    /// - Parameter ranges: of the messages, in `bytes`.
    package init(first: UInt64, bytes: [UInt8], ranges: [Range<Int>]) {
        (self.first, self.bytes, self.ranges) = (first, bytes, ranges)
    }
    package var count: Int { ranges.count }
    package func withMessage<Result, Failure: Error>(
        _ index: Int, _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let range = ranges[index]
        // As a result: the closure's error would lose its type.
        return try bytes.withUnsafeBytes { bytes in
            Swift.Result { () throws(Failure) in try body(UnsafeRawBufferPointer(rebasing: bytes[range])) }
        }.get()
    }
}

/// Reads a channel, over one connection, which ends when it is released.
///
/// What is read through one connection stays as it is, but that messages go from the beginning: if the carrier sets its
/// numbers back, the connection has ended before, and every call throws. See "The carrier" in MIRRORS.md.
package protocol MirrorSource: Sendable {
    func bounds() async throws(RelayError) -> ChannelBounds
    /// A message's bytes; nil: there is none of this number.
    func message(_ number: UInt64) async throws(RelayError) -> [UInt8]?
    /// The message of this number and those behind it: at least one, and as many more as have so many bytes. Nil: there
    /// is none of this number.
    func messages(from number: UInt64, atMost bytes: Int) async throws(RelayError) -> MessageBatch?
    /// The number of the newest message whose header has this kind; nil: there is none. Messages of others may be
    /// passed over or not.
    func newest(_ kind: MirrorHeader.Kind) async throws(RelayError) -> UInt64?
    /// Returns once there is a message behind this number. Throws `Cancelled` when the task was cancelled.
    func wait(behind number: UInt64) async throws(RelayError)
    /// Rings a bell with each message that comes, from now on, and at once if there is one behind this number. Whoever
    /// waits for the bell looks every 250 ms by itself, as the end of the connection rings nothing.
    ///
    /// Returns false where the carrier cannot do that: then `wait` does.
    func ring(_ bell: Bell, behind number: UInt64) async throws(RelayError) -> Bool
}
extension MirrorSource {
    package func ring(_ bell: Bell, behind number: UInt64) async throws(RelayError) -> Bool { false }
}
/// Appends to a channel, over one connection, which reads as well.
package protocol MirrorSink: MirrorSource {
    /// Adds a message behind the number `last`. Returns false, and adds nothing, if the channel ends elsewhere. If it
    /// throws, either may have happened; it takes no effect later than that.
    func append(_ message: [UInt8], expecting last: UInt64) async throws(RelayError) -> Bool
}
