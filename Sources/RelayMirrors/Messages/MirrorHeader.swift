import RelayCore
import RelayWire

/// The first 64 bytes of a message in a channel: what it is, and where it belongs in which history. Whatever decides
/// about messages needs no more of them.
package struct MirrorHeader: Hashable, Sendable {
    package enum Kind: UInt8, Sendable, CaseIterable { case page = 1, snapshot = 2 }

    package static let size = 64
    /// "RelM".
    static let magic: UInt32 = 0x4D6C_6552
    static let version: UInt8 = 1
    /// How many parts a snapshot has at the most.
    package static let mostParts = 256
    /// What a journal counts up to.
    package static let lastSequence = UInt64(Int64.max) - 1

    package var kind: Kind
    /// The exporter's random number.
    package var writer: UInt64
    /// The origin's journal: the epoch of its first run.
    package var journal: UInt64
    /// Page: the run of the events. Snapshot: the origin's run.
    package var epoch: UInt64
    /// Page: the first event's sequence. Snapshot: 0.
    package var first: UInt64
    /// Page: the last event's sequence. Snapshot: its position.
    package var last: UInt64
    package var (part, parts): (UInt16, UInt16) = (0, 1)
    /// How many bytes follow.
    package internal(set) var length: UInt32 = 0
    /// Of all bytes of the message but these.
    package internal(set) var checksum: UInt64 = 0

    private init(_ kind: Kind, writer: UInt64, journal: UInt64, epoch: UInt64, first: UInt64, last: UInt64) {
        (self.kind, self.writer, self.journal, self.epoch) = (kind, writer, journal, epoch)
        (self.first, self.last) = (first, last)
    }
    package static func page(
        of events: ClosedRange<UInt64>, epoch: UInt64, journal: UInt64, writer: UInt64
    ) -> Self {
        Self(
            .page, writer: writer, journal: journal, epoch: epoch, first: events.lowerBound, last: events.upperBound)
    }
    package static func snapshot(at position: UInt64, epoch: UInt64, journal: UInt64, writer: UInt64) -> Self {
        Self(.snapshot, writer: writer, journal: journal, epoch: epoch, first: 0, last: position)
    }

    /// Of a page.
    package var events: ClosedRange<UInt64> { min(first, last)...last }

    // MARK: Bytes

    /// Without the checksum, which is the last of them.
    func write(into writer: inout WireWriter) {
        writer.uint32(Self.magic)
        writer.byte(Self.version)
        writer.byte(kind.rawValue)
        writer.uint16(0)
        for number in [self.writer, journal, epoch, first, last] { writer.uint64(number) }
        writer.uint16(part)
        writer.uint16(parts)
        writer.uint32(length)
    }
    func writeWhole(into writer: inout WireWriter) {
        write(into: &writer)
        writer.uint64(checksum)
    }
    /// Throws `.invalidArgument` for what is no header of a message.
    init(_ reader: inout WireReader) throws(RelayError) {
        do throws(WireFault) {
            let (magic, version) = (try reader.uint32(), try reader.byte())
            let (kind, reserved) = (try reader.byte(), try reader.uint16())
            guard magic == Self.magic, version == Self.version, let kind = Kind(rawValue: kind), reserved == 0 else {
                throw WireFault(.payload("no message of a mirror of version \(Self.version)"), at: 0)
            }
            self.init(
                kind, writer: try reader.uint64(), journal: try reader.uint64(), epoch: try reader.uint64(),
                first: try reader.uint64(), last: try reader.uint64())
            (part, parts) = (try reader.uint16(), try reader.uint16())
            length = try reader.uint32()
            checksum = try reader.uint64()
            if let fault { throw WireFault(.payload(fault), at: 0) }
        } catch { throw error.relayError("a mirror's message") }
    }
    /// What a message says that it is; nil: it is foreign. All else is checked by who reads it.
    package static func kind(of message: UnsafeRawBufferPointer) -> Kind? {
        guard message.count >= size else { return nil }
        var reader = WireReader(message)
        guard let magic = try? reader.uint32(), magic == Self.magic, let version = try? reader.byte(),
            version == Self.version, let kind = try? reader.byte()
        else { return nil }
        return Kind(rawValue: kind)
    }
    /// Which of the numbers contradict each other.
    private var fault: String? {
        if epoch == 0 || journal == 0 { return "the epoch \(epoch) in the journal \(journal)" }
        if last > Self.lastSequence { return "the sequence \(last)" }
        switch kind {
        case .page:
            if first == 0 || first > last { return "a page from \(first) to \(last)" }
            if part != 0 || parts != 1 { return "a page in parts" }
        case .snapshot:
            if first != 0 { return "a snapshot from \(first)" }
            if part >= parts || parts > Self.mostParts { return "part \(part) of \(parts)" }
        }
        return nil
    }
}
