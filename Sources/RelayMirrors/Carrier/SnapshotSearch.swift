import RelayCore

extension MirrorSource {
    /// A message, if it is whole. What cannot be read is foreign.
    func whole(_ number: UInt64) async throws(RelayError) -> MirrorMessage? {
        guard let bytes = try await message(number) else { return nil }
        do throws(RelayError) { return try MirrorMessage(bytes) } catch { return nil }
    }
    /// The newest snapshot that is whole: of one that is being appended, the parts come yet.
    func newestSnapshot(
        within bounds: ChannelBounds
    ) async throws(RelayError) -> (found: FoundSnapshot, snapshot: MirrorSnapshot)? {
        guard let newest = try await newest(.snapshot), newest <= bounds.last else { return nil }
        var search = BackwardSearch(ChannelBounds(first: bounds.first, last: newest))
        repeat {
            if let snapshot = try await snapshot(endingAt: search.next) { return snapshot }
        } while search.goBack()
        return nil
    }
    /// The snapshot whose last part has a number; nil: there is none that is whole.
    func snapshot(
        endingAt number: UInt64
    ) async throws(RelayError) -> (found: FoundSnapshot, snapshot: MirrorSnapshot)? {
        guard let end = try await whole(number), end.header.kind == .snapshot,
            end.header.part + 1 == end.header.parts, number >= UInt64(end.header.parts)
        else { return nil }
        let first = number - UInt64(end.header.part)
        var parts = SnapshotParts()
        for part in first..<number { _ = parts.take(try await whole(part), at: part) }
        return parts.take(end, at: number).flatMap { MirrorSnapshot.found($0, first...number, end.header) }
    }
}

extension MirrorSnapshot {
    /// What the bytes of all parts are; nil: no snapshot.
    static func found(
        _ bytes: [UInt8], _ numbers: ClosedRange<UInt64>, _ end: MirrorHeader
    ) -> (found: FoundSnapshot, snapshot: MirrorSnapshot)? {
        do {
            let snapshot = try MirrorSnapshot(bytes, of: end)
            return (FoundSnapshot(numbers, end, snapshot.table), snapshot)
        } catch { return nil }
    }
}
