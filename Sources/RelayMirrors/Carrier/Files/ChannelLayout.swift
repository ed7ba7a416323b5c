import RelayCore
import RelayWire

/// Finds damage, word by word; it does not find forgery.
struct ChannelHash {
    private(set) var value: UInt64 = 0x5265_6C43_0000_0001

    mutating func combine(_ word: UInt64) {
        value = (value ^ word) &* 0x9E37_79B9_7F4A_7C15
        value ^= value >> 32
    }
    mutating func combine(_ bytes: UnsafeRawBufferPointer) {
        let whole = bytes.count & ~7
        var offset = 0
        while offset < whole {
            // In bounds: below the whole words of these bytes.
            combine(UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)))
            offset += 8
        }
        var rest: UInt64 = 0
        for byte in bytes[whole...] { rest = rest << 8 | UInt64(byte) }
        combine(rest)
        combine(UInt64(bytes.count))
    }
    static func of(_ words: [UInt64]) -> UInt64 {
        var hash = Self()
        for word in words { hash.combine(word) }
        return hash.value
    }
}

/// A message's place in a channel's file.
struct RecordPlace: Hashable, Sendable {
    var number: UInt64
    var offset: Int
    static let none = Self(number: 0, offset: 0)
}

/// The beginning of a channel's file: which messages it has, and where. What it does not count was never there.
struct ChannelHeader: Hashable, Sendable {
    /// "RelC", version 1.
    private static let magic: UInt64 = 0x0000_0001_436C_6552
    static let size = 13 * 8
    /// The records begin in the second page, so that the room of those that are removed can be given back.
    static let start = 4_096
    /// What a file is never larger than.
    private static let mostBytes = UInt64(1) << 62

    /// Another one whenever numbers were set back.
    var generation: UInt64
    /// Where all were removed: of the one that comes next.
    var first = RecordPlace(number: 1, offset: start)
    var last = RecordPlace.none
    /// Where the next record comes.
    var end = start
    /// The last record's: it stands for all up to there.
    var chain: UInt64 = 0
    /// The newest message that is a snapshot's part.
    var snapshot = RecordPlace.none
    /// The last message that the disk is known to have.
    var synced = RecordPlace.none

    init(generation: UInt64) { self.generation = generation }
    /// Another number, which no file has had.
    static func newGeneration() -> UInt64 { UInt64.random(in: 1...UInt64.max) }

    var bounds: ChannelBounds { ChannelBounds(first: first.number, last: last.number) }
    func has(_ number: UInt64) -> Bool { first.number <= number && number <= last.number }

    // MARK: Bytes

    private var words: [UInt64] {
        [Self.magic, generation, chain, UInt64(end)]
            + [first, last, snapshot, synced].flatMap { [$0.number, UInt64($0.offset)] }
    }
    var bytes: [UInt8] {
        var writer = WireWriter(capacity: Self.size)
        for word in words + [ChannelHash.of(words)] { writer.uint64(word) }
        return writer.takeBytes()
    }
    /// Nil for bytes that are no header, or a damaged one.
    init?(_ bytes: UnsafeRawBufferPointer) {
        guard bytes.count == Self.size else { return nil }
        var reader = WireReader(bytes)
        let words = (0..<Self.size / 8).compactMap { _ in try? reader.uint64() }
        guard words.count == Self.size / 8, words[0] == Self.magic, words[1] != 0,
            ChannelHash.of(words.dropLast()) == words.last,
            words[2...].dropLast().indices.allSatisfy({ index in
                // All but the chain are numbers and offsets.
                index == 2 || words[index] <= Self.mostBytes
            })
        else { return nil }
        func place(_ index: Int) -> RecordPlace { RecordPlace(number: words[index], offset: Int(words[index + 1])) }
        (generation, chain, end) = (words[1], words[2], Int(words[3]))
        (first, last, snapshot, synced) = (place(4), place(6), place(8), place(10))
        let isEmpty = first.number == last.number + 1
        guard first.number > 0, isEmpty || first.number <= last.number, first.offset >= Self.start,
            isEmpty ? first.offset == end : first.offset <= last.offset && last.offset + RecordHeader.size <= end,
            snapshot.number <= last.number, synced.number <= last.number
        else { return nil }
    }
}
extension ChannelHash {
    static func of(_ words: ArraySlice<UInt64>) -> UInt64 { of(Array(words)) }
}

/// What stands before each message in a channel's file.
struct RecordHeader: Hashable, Sendable {
    static let size = 7 * 8
    /// A message is not larger.
    static let mostBytes = 16 << 20

    /// The message's.
    var length: Int
    /// That of the message before, in this file.
    var previous: Int
    var number: UInt64
    /// The newest message up to here that is a snapshot's part.
    var snapshot: RecordPlace
    /// Of the message.
    var check: UInt64
    /// Of this record and all before it.
    var chain: UInt64

    init(
        _ message: UnsafeRawBufferPointer, number: UInt64, previous: Int, snapshot: RecordPlace, chain before: UInt64
    ) {
        (length, self.previous, self.number, self.snapshot) = (message.count, previous, number, snapshot)
        check = Self.check(message)
        chain = ChannelHash.of([before, check, number])
    }
    static func check(_ message: UnsafeRawBufferPointer) -> UInt64 {
        var hash = ChannelHash()
        hash.combine(message)
        return hash.value
    }
    func follows(_ before: UInt64) -> Bool { chain == ChannelHash.of([before, check, number]) }

    /// How far the next record is.
    var stride: Int { Self.stride(length) }
    static func stride(_ length: Int) -> Int { size + (length + 7) & ~7 }

    // MARK: Bytes

    func write(into writer: inout WireWriter) {
        writer.uint32(UInt32(length))
        writer.uint32(UInt32(previous))
        for word in [number, snapshot.number, UInt64(snapshot.offset), check, chain, frame] { writer.uint64(word) }
    }
    private var frame: UInt64 {
        Self.frame(
            UInt64(length) | UInt64(previous) << 32, number, snapshot.number, UInt64(snapshot.offset), check, chain)
    }
    /// Without an array: each record that is read is checked.
    private static func frame(
        _ lengths: UInt64, _ number: UInt64, _ snapshot: UInt64, _ offset: UInt64, _ check: UInt64, _ chain: UInt64
    ) -> UInt64 {
        var hash = ChannelHash()
        hash.combine(lengths)
        hash.combine(number)
        hash.combine(snapshot)
        hash.combine(offset)
        hash.combine(check)
        hash.combine(chain)
        return hash.value
    }
    /// Nil for bytes that are none of a record's.
    init?(_ bytes: UnsafeRawBufferPointer) {
        guard bytes.count >= Self.size else { return nil }
        // In bounds: checked just now.
        func word(_ index: Int) -> UInt64 {
            UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: index * 8, as: UInt64.self))
        }
        let (lengths, offset) = (word(0), word(3))
        guard word(6) == Self.frame(lengths, word(1), word(2), offset, word(4), word(5)),
            offset <= UInt64(Int.max) / 2
        else { return nil }
        (length, previous, number) = (Int(lengths & 0xFFFF_FFFF), Int(lengths >> 32), word(1))
        (snapshot, check, chain) = (RecordPlace(number: word(2), offset: Int(offset)), word(4), word(5))
        if length > Self.mostBytes || previous > Self.mostBytes { return nil }
    }
}
