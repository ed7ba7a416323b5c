import RelayCore

/// Finds messages in a channel's file, and reads many at once.
///
/// It keeps places that it has passed: they stay where they are as long as the connection lives.
struct ChannelReading {
    /// How much is read at once.
    private static let windowSize = 256 << 10
    /// How far apart kept places are.
    private static let step = 1 << 20
    /// A part of the file, and where that starts.
    private var window: (offset: Int, bytes: [UInt8]) = (0, [])
    /// By rising numbers.
    private var places: [RecordPlace] = []
    /// The one behind what was read last.
    private var next: RecordPlace?

    /// A batch of messages, of those that a header counts. It may have been overtaken: the caller looks at the header
    /// again.
    mutating func batch(
        from number: UInt64, atMost limit: Int, _ header: ChannelHeader, _ file: ChannelFile
    ) throws(RelayError) -> MessageBatch {
        var place = try find(number, header, file)
        var ranges: [Range<Int>] = []
        var total = 0
        var bytes: (offset: Int, bytes: [UInt8]) = (0, [])
        while place.number <= header.last.number {
            let record = try record(place, header, file)
            let end = place.offset + record.stride
            if ranges.isEmpty {
                try load(place.offset, max(record.stride, min(limit, Self.windowSize)), header, file)
                bytes = window
            } else if total + record.length > limit || end > bytes.offset + bytes.bytes.count {
                break
            }
            let start = place.offset + RecordHeader.size - bytes.offset
            guard start + record.length <= bytes.bytes.count else { throw file.damage(at: place.offset, "its end") }
            ranges.append(start..<start + record.length)
            total += record.length
            place = RecordPlace(number: place.number + 1, offset: end)
        }
        next = place
        keep(place)
        return MessageBatch(first: number, bytes: bytes.bytes, ranges: ranges)
    }
    /// The newest page, looked for from the end.
    mutating func newestPage(_ header: ChannelHeader, _ file: ChannelFile) throws(RelayError) -> UInt64? {
        var place = header.last
        while header.has(place.number) {
            let record = try record(place, header, file)
            let head = try file.read(at: place.offset + RecordHeader.size, min(record.length, MirrorHeader.size))
            if head.withUnsafeBytes({ MirrorHeader.kind(of: $0) }) == .page { return place.number }
            place = before(place, record)
        }
        return nil
    }

    // MARK: Places

    private mutating func find(
        _ number: UInt64, _ header: ChannelHeader, _ file: ChannelFile
    ) throws(RelayError) -> RecordPlace {
        if let next, next.number == number { return next }
        let index = places.partition(at: number)
        var known = [header.first, header.last, header.snapshot]
        if let next { known.append(next) }
        known += places[max(0, index - 1)..<min(places.count, index + 1)]
        func distance(_ place: RecordPlace) -> UInt64 {
            place.number > number ? place.number - number : number - place.number
        }
        let ends = header.first.number...header.last.number + 1
        var place = known.filter { ends.contains($0.number) }.min { distance($0) < distance($1) } ?? header.first
        while place.number < number {
            let record = try record(place, header, file)
            place = RecordPlace(number: place.number + 1, offset: place.offset + record.stride)
            keep(place)
        }
        // Behind the last one nothing says how long that is.
        if place.number > header.last.number { place = header.last }
        while place.number > number { place = before(place, try record(place, header, file)) }
        return place
    }
    private func before(_ place: RecordPlace, _ record: RecordHeader) -> RecordPlace {
        RecordPlace(number: place.number - 1, offset: place.offset - RecordHeader.stride(record.previous))
    }
    private mutating func keep(_ place: RecordPlace) {
        if let last = places.last, place.offset - last.offset < Self.step { return }
        places.append(place)
    }
    private mutating func record(
        _ place: RecordPlace, _ header: ChannelHeader, _ file: ChannelFile
    ) throws(RelayError) -> RecordHeader {
        guard place.offset >= ChannelHeader.start, place.offset + RecordHeader.size <= header.end else {
            throw file.damage(at: place.offset, "message \(place.number)")
        }
        if place.offset < window.offset
            || place.offset + RecordHeader.size > window.offset + window.bytes.count
        {
            // Backwards the next ones to be read are before.
            let back = place.offset < window.offset ? Self.windowSize - RecordHeader.size : 0
            try load(max(ChannelHeader.start, place.offset - back), Self.windowSize, header, file)
        }
        let start = place.offset - window.offset
        guard start + RecordHeader.size <= window.bytes.count,
            let record = window.bytes.withUnsafeBytes({ bytes in
                RecordHeader(UnsafeRawBufferPointer(rebasing: bytes[start..<start + RecordHeader.size]))
            }), record.number == place.number, place.offset + record.stride <= header.end
        else { throw file.damage(at: place.offset, "message \(place.number)") }
        return record
    }
    /// Has a part of the file in the window.
    private mutating func load(
        _ offset: Int, _ count: Int, _ header: ChannelHeader, _ file: ChannelFile
    ) throws(RelayError) {
        let end = min(header.end, offset + count)
        if offset >= window.offset, end <= window.offset + window.bytes.count { return }
        window = (offset, try file.read(at: offset, end - offset))
    }
}
extension [RecordPlace] {
    /// The first one at or behind a number.
    fileprivate func partition(at number: UInt64) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if self[middle].number < number { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
