import RelayCore

@testable import RelayMirrors
import RelayWire

/// What the messages of a channel come to, for somebody who reads them all, from the first one on: made with nothing of
/// the mirror's own decisions.
struct ChannelAccount {
    struct Event: Hashable {
        let epoch: UInt64
        let name: String
        let body: [UInt8]
    }
    /// Those of the present history, by sequence.
    private(set) var events: [UInt64: Event] = [:]
    /// What never came, and will not.
    private(set) var missing: Set<UInt64> = []
    private(set) var position: UInt64 = 0
    /// Of the newest whole snapshot.
    private(set) var newest: (header: MirrorHeader, snapshot: MirrorSnapshot)?
    private(set) var (pages, snapshots, foreign) = (0, 0, 0)
    /// What no exporter does.
    private(set) var faults: [String] = []
    private var all: [ModelEvent: Event] = [:]

    init(of source: any MirrorSource) async throws {
        let bounds = try await source.bounds()
        var messages: [(number: UInt64, message: MirrorMessage?)] = []
        var next = bounds.first
        while next <= bounds.last, let batch = try await source.messages(from: next, atMost: 1 << 20) {
            for index in 0..<batch.count {
                messages.append((next, batch.withMessage(index) { try? MirrorMessage($0) }))
                next += 1
            }
        }
        var parts = SnapshotParts()
        var whole: [UInt64: (MirrorHeader, MirrorSnapshot)] = [:]
        for (number, message) in messages {
            guard let bytes = parts.take(message, at: number), let header = message?.header else { continue }
            let snapshot = try MirrorSnapshot(bytes, of: header)
            whole[number] = (header, snapshot)
            newest = (header, snapshot)
            snapshots += 1
        }
        guard let table = newest?.snapshot.table.runs else { return }
        func isOfHistory(_ sequence: UInt64, _ epoch: UInt64) -> Bool {
            // Of runs that begin at the same sequence the last one has the events.
            table.last { $0.first <= sequence }?.epoch == epoch
        }
        var begun = false
        for (number, message) in messages {
            guard let message else {
                foreign += 1
                continue
            }
            if let (header, snapshot) = whole[number] {
                let isPresent = snapshot.table.runs.last?.epoch == table.last?.epoch
                if isPresent { skip(to: header.last, isFirst: !begun) }
                if isPresent { begun = true }
            }
            guard message.header.kind == .page else { continue }
            pages += 1
            let page = try MirrorPage(message)
            for event in page.events {
                let place = ModelEvent(epoch: message.header.epoch, sequence: event.stamp.sequence)
                let seen = Event(
                    epoch: place.epoch, name: page.schemas[event.schema]?.event ?? "",
                    body: Array(page.bytes[event.body]))
                if let before = all.updateValue(seen, forKey: place), before != seen {
                    faults.append("#\(number) has another event \(place)")
                }
                if !isOfHistory(place.sequence, place.epoch) || place.sequence <= position { continue }
                skip(to: place.sequence - 1, isFirst: !begun)
                (position, begun) = (place.sequence, true)
                events[place.sequence] = seen
            }
        }
    }
    private mutating func skip(to sequence: UInt64, isFirst: Bool) {
        if sequence <= position { return }
        // A reader that begins calls what was before removed.
        if !isFirst { missing.formUnion(position + 1...sequence) }
        position = sequence
    }
    /// What differs from the origin's journal; nothing may.
    ///
    /// - Parameter lost: sequences that somebody removed before they were exported.
    func differences(from history: ExportedHistory, lost: Set<UInt64> = []) -> [String] {
        var differences = faults
        if position != history.head {
            differences.append("the channel ends at \(position), the origin at \(history.head)")
        }
        for (sequence, event) in history.events.sorted(by: { $0.key < $1.key }) where !lost.contains(sequence) {
            if events[sequence] != event {
                differences.append("#\(sequence) is \(events[sequence].map { "\($0)" } ?? "not there")")
            }
        }
        for sequence in events.keys where sequence > history.head {
            differences.append("#\(sequence) is above the head")
        }
        let unexplained = missing.subtracting(lost).sorted()
        if !unexplained.isEmpty { differences.append("never came: \(unexplained)") }
        return differences
    }
}
