import RelayCore

@testable import RelayMirrors

/// A subscriber of all events that are kept, by the steps of PROTOCOL.md, as a value.
struct ModelSubscriber: Hashable {
    private struct Attachment: Hashable {
        let connection: ModelMirror.Connection
        let from, head: UInt64
    }
    enum Item: Hashable {
        case event(ModelEvent)
        case gap
    }
    enum Step: Hashable {
        case nothing, attached
        case delivered(ModelEvent)
        case missed(ClosedRange<UInt64>)
        /// What was delivered above is undone.
        case replaced(above: UInt64, [Item])
    }
    private var (epoch, position): (UInt64, UInt64) = (0, 0)
    private var lineage: [StreamRun] = []
    private var attachment: Attachment?
    /// The mirror has yet to come to the run of the position.
    private var isAhead = false
    /// What is accounted for, by the sequences.
    private(set) var items: [Item] = []

    mutating func step(_ mirror: ModelMirror) -> Step {
        guard let connection = mirror.connection else {
            attachment = nil
            return .nothing
        }
        let file = mirror.file
        guard let attachment, attachment.connection == connection else { return attach(to: mirror, connection) }
        if isAhead {
            let next = attachment.from + 1
            if file.head < next || run(of: next) == file.run(of: next) && file.head <= position { return .nothing }
            return attach(to: mirror, connection)
        }
        let next = position + 1
        if next > file.head { return .nothing }
        guard next > file.base, let epoch = file.rows[Int(next - file.base) - 1] else {
            var last = max(position, file.base)
            while last < file.head, file.rows[Int(last - file.base)] == nil { last += 1 }
            let range = next...last
            account(through: last, .gap, file, attachment)
            return .missed(range)
        }
        // A signal carries no epoch: it is that of the connection. A page has its own.
        let event = ModelEvent(epoch: next > attachment.head ? connection.epoch : epoch, sequence: next)
        account(through: next, .event(event), file, attachment)
        return .delivered(event)
    }
    private mutating func account(
        through last: UInt64, _ item: Item, _ file: ModelMirror.File, _ attachment: Attachment
    ) {
        while UInt64(items.count) < last { items.append(item) }
        position = last
        epoch = last >= attachment.head ? attachment.connection.epoch : file.run(of: last)
        lineage = file.runs
        narrow()
    }
    private func run(of sequence: UInt64) -> UInt64 { lineage.last { $0.first <= sequence }?.epoch ?? 0 }
    private mutating func narrow() {
        if let index = lineage.lastIndex(where: { $0.epoch == epoch }) { lineage.removeSubrange((index + 1)...) }
    }
    private mutating func attach(to mirror: ModelMirror, _ connection: ModelMirror.Connection) -> Step {
        let (head, runs) = (mirror.file.head, mirror.file.runs)
        let common = RunQuestion(epoch: epoch, after: position, ancestry: lineage).common { epoch -> LoggedRun? in
            runs.lastIndex { $0.epoch == epoch }.map { index in
                LoggedRun(first: runs[index].first, end: index + 1 < runs.count ? runs[index + 1].first - 1 : nil)
            }
        }
        let from = common?.from(head: head) ?? 0
        attachment = Attachment(connection: connection, from: from, head: head)
        isAhead = false
        if epoch == 0 {
            epoch = connection.epoch
        } else if from < position {
            let isOver = runs.dropLast().contains { $0.epoch == epoch }
            if mirror.removed != .open, !isOver, from >= head || from == 0 && head <= position && lineage.isEmpty {
                isAhead = epoch != connection.epoch
                return .attached
            }
            let undone = Array(items[Int(from)...])
            items.removeLast(undone.count)
            (position, epoch, lineage) = (from, connection.epoch, runs)
            return .replaced(above: from, undone)
        } else {
            epoch = connection.epoch
        }
        lineage = runs
        narrow()
        return .attached
    }
}
