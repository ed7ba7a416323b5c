import RelayCore

@testable import RelayMirrors

/// A channel of a carrier that forgets, as a value.
struct ModelChannel: Hashable {
    private struct Message: Hashable {
        /// Nil: it is foreign.
        let header: MirrorHeader?
        var runs: [StreamRun] = []
    }
    private var messages: [Message] = []
    private var removed: UInt64 = 0
    /// The last number that survives the carrier's death.
    private var synced: UInt64 = 0

    private var last: UInt64 { removed + UInt64(messages.count) }
    var bounds: ChannelBounds { ChannelBounds(first: removed + 1, last: last) }

    func news(_ number: UInt64) -> MirrorNews {
        guard number > removed, number <= last else { return .other }
        let message = messages[Int(number - removed) - 1]
        return switch message.header?.kind {
        case .page: .page(message.header!)
        case .snapshot: .snapshot(message.header!, runs: message.runs)
        case nil: .other
        }
    }
    var newest: ExporterMachine.Snapshot? {
        for number in (removed...last).dropFirst().reversed() {
            if case .snapshot(let header, let runs) = news(number) {
                return ExporterMachine.Snapshot(number...number, header, runs: runs)
            }
        }
        return nil
    }
    func has(_ event: ModelEvent) -> Bool {
        messages.contains { message in
            guard let header = message.header, header.kind == .page else { return false }
            return header.epoch == event.epoch && header.events.contains(event.sequence)
        }
    }

    mutating func append(_ header: MirrorHeader?, runs: [StreamRun] = [], expecting number: UInt64?) -> UInt64? {
        if let number, number != last { return nil }
        messages.append(Message(header: header, runs: runs))
        return last
    }
    mutating func sync() -> Bool {
        if synced == last { return false }
        synced = last
        return true
    }
    /// Returns the runs whose snapshots were forgotten; nil: nothing was.
    mutating func forget() -> Set<UInt64>? {
        let kept = Int(max(synced, removed) - removed)
        if kept == messages.count { return nil }
        let forgotten = messages[kept...].compactMap { $0.header }.filter { $0.kind == .snapshot }
        messages.removeLast(messages.count - kept)
        return Set(forgotten.map(\.epoch))
    }
    mutating func expire() -> Bool {
        if messages.isEmpty { return false }
        messages.removeFirst()
        removed += 1
        return true
    }
    mutating func delete() -> Bool {
        if last == 0 { return false }
        self = Self()
        return true
    }
}
