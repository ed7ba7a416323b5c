import RelayCore

@testable import RelayMirrors

/// A channel of a carrier that forgets, as a value.
struct ModelChannel: Hashable {
    /// What is on the carrier's disk.
    private struct Kept: Hashable {
        var messages: [Message] = []
        var removed: UInt64 = 0
        /// The last number that survives the carrier's death.
        var synced: UInt64 = 0
    }
    private struct Message: Hashable {
        /// Nil: it is foreign.
        let header: MirrorHeader?
        var table = RunTable()
    }
    private var kept = Kept()
    private var backup: Kept?

    private var last: UInt64 { kept.removed + UInt64(kept.messages.count) }
    var bounds: ChannelBounds { ChannelBounds(first: kept.removed + 1, last: last) }

    func news(_ number: UInt64) -> MirrorNews {
        guard number > kept.removed, number <= last else { return .other }
        let message = kept.messages[Int(number - kept.removed) - 1]
        return switch message.header?.kind {
        case .page: .page(message.header!)
        case .snapshot: .snapshot(message.header!, message.table)
        case nil: .other
        }
    }
    var newest: FoundSnapshot? {
        for number in (kept.removed...last).dropFirst().reversed() {
            if case .snapshot(let header, let table) = news(number) {
                return FoundSnapshot(number...number, header, table)
            }
        }
        return nil
    }
    func has(_ event: ModelEvent) -> Bool {
        kept.messages.contains { message in
            guard let header = message.header, header.kind == .page else { return false }
            return header.epoch == event.epoch && header.events.contains(event.sequence)
        }
    }

    mutating func append(_ header: MirrorHeader?, _ table: RunTable = RunTable(), expecting number: UInt64?) -> UInt64?
    {
        if let number, number != last { return nil }
        kept.messages.append(Message(header: header, table: table))
        return last
    }
    mutating func sync() -> Bool {
        if kept.synced == last { return false }
        kept.synced = last
        return true
    }
    /// Returns the runs whose snapshots were forgotten; nil: nothing was.
    mutating func forget() -> Set<UInt64>? {
        let rest = Int(max(kept.synced, kept.removed) - kept.removed)
        if rest == kept.messages.count { return nil }
        let forgotten = kept.messages[rest...].compactMap { $0.header }.filter { $0.kind == .snapshot }
        kept.messages.removeLast(kept.messages.count - rest)
        return Set(forgotten.map(\.epoch))
    }
    mutating func expire() -> Bool {
        if kept.messages.isEmpty { return false }
        kept.messages.removeFirst()
        kept.removed += 1
        return true
    }
    mutating func delete() -> Bool {
        if last == 0 { return false }
        kept = Kept()
        return true
    }
    mutating func backUp() -> Bool {
        if backup == kept { return false }
        backup = kept
        return true
    }
    mutating func restore() -> Bool {
        guard let backup, backup != kept else { return false }
        kept = backup
        return true
    }
}
