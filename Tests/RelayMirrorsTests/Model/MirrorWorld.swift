import RelayCore

@testable import RelayMirrors
/// An origin, its exporter, a channel, a mirror, and a subscriber of the mirror, as a value that takes inputs.
struct MirrorWorld: Hashable {
    enum Input: CaseIterable {
        /// The origin commits an event, begins another run, and removes its oldest event.
        case commit, restart, prune
        /// The origin's journal is copied, and changes places with the copy.
        case backUp, restore
        /// The exporter goes on to the next append; makes it, and hears no answer; has begun it, and hears none; dies.
        case export, exportUnheard, exportLate, killExporter
        /// What was begun comes to the carrier, unless its numbers were set back meanwhile.
        case land
        /// The carrier syncs; dies; removes its oldest message; loses the channel; is written to by somebody else.
        case sync, forget, expire, delete, foreign
        /// The channel is copied, and put back.
        case copyChannel, oldChannel
        /// The mirror takes in the next message; dies.
        case mirror, killMirror
        /// The mirror's file is lost, copied, and put back.
        case loseFile, copyFile, oldFile
        /// The subscriber gets what is next for it.
        case subscribe
    }
    private(set) var origin = ModelOrigin()
    private var exporter = ExporterMachine(writer: 1)
    /// On its way to the carrier.
    private var late: Append?
    private var channel = ModelChannel()
    private(set) var mirror: ModelMirror
    private(set) var subscriber = ModelSubscriber()
    /// Events that somebody had removed before the next one had them.
    private var excused: Set<ModelEvent> = []
    /// The channel has forgotten a snapshot; the mirror has forgotten what it had.
    private var (forgotSnapshot, wentBack) = (false, false)
    private(set) var faults: [String] = []

    init(without rule: Rule? = nil) { mirror = ModelMirror(without: rule) }

    // MARK: Steps

    /// False where the input does nothing.
    mutating func apply(_ input: Input) -> Bool {
        let isDone =
            switch input {
            case .commit: origin.journal.head < 12 && origin.commit()
            case .restart: changeOrigin { $0.restart() }
            case .prune: origin.prune()
            case .backUp: origin.backUp()
            case .restore: changeOrigin { $0.restore() }
            case .export: export(.made)
            case .exportUnheard: export(.unheard)
            case .exportLate: export(.late)
            case .land: land()
            case .killExporter: killExporter()
            case .sync: channel.sync()
            case .forget: forget()
            case .expire: expire()
            case .delete: delete()
            case .foreign: channel.append(nil, expecting: nil) != nil
            case .copyChannel: channel.backUp()
            case .oldChannel: setBack()
            case .mirror: mirror.step(channel)
            case .killMirror: killMirror()
            case .loseFile: goBack { $0.loseFile() }
            case .copyFile: mirror.backUp()
            case .oldFile: goBack { $0.restore() }
            case .subscribe: subscribe()
            }
        if isDone && input.changesWhatIsKept { check() }
        return isDone
    }
    private mutating func changeOrigin(_ change: (inout ModelOrigin) -> Bool) -> Bool {
        if !change(&origin) { return false }
        exporter.originChanged()
        return true
    }
    private mutating func killExporter() -> Bool {
        if exporter == ExporterMachine(writer: exporter.writer) { return false }
        exporter = ExporterMachine(writer: exporter.writer + 1)
        return true
    }
    private mutating func forget() -> Bool {
        guard let forgotten = channel.forget() else { return false }
        if !forgotten.isEmpty { forgotSnapshot = true }
        disconnect()
        return true
    }
    private mutating func expire() -> Bool {
        let before = channel
        if !channel.expire() { return false }
        for event in origin.all where before.has(event) && !channel.has(event) { excused.insert(event) }
        return true
    }
    private mutating func delete() -> Bool {
        if channel.newest != nil { forgotSnapshot = true }
        if !channel.delete() { return false }
        disconnect()
        return true
    }
    private mutating func setBack() -> Bool {
        if !channel.restore() { return false }
        forgotSnapshot = true
        disconnect()
        return true
    }
    private mutating func disconnect() {
        // What was on its way goes with the connection.
        late = nil
        exporter.disconnected()
        mirror.disconnect()
    }
    private mutating func killMirror() -> Bool {
        let before = mirror
        mirror.die()
        return mirror != before
    }
    private mutating func goBack(_ change: (inout ModelMirror) -> Bool) -> Bool {
        if !change(&mirror) { return false }
        wentBack = true
        return true
    }

    // MARK: The exporter

    /// Asks and reads, up to the next append or question to the origin. False: there is nothing to do.
    private mutating func export(_ fate: Append.Fate) -> Bool {
        let before = exporter
        for _ in 0..<40 {
            switch exporter.demand {
            case .connect: exporter.connected()
            case .look: exporter.found(channel.bounds, newest: channel.newest)
            case .message(let number): exporter.received(channel.news(number))
            case .attach:
                exporter.attached(runs: origin.journal.runs, oldest: origin.journal.pruned + 1)
                return true
            case .read(let after):
                exporter.removed(below: channel.bounds.first)
                if case .read = exporter.demand {
                    let events = page(behind: after)
                    exporter.read(
                        events, epoch: events.map { origin.journal.events[Int($0.lowerBound) - 1] } ?? origin.epoch,
                        oldest: origin.journal.pruned + 1)
                }
                if case .read = exporter.demand { return exporter != before }
            case .appendSnapshot(let position, let table, let number):
                let header = MirrorHeader.snapshot(
                    at: position, epoch: origin.epoch, journal: 101, writer: exporter.writer)
                append(Append(header: header, table: table, expected: number), fate)
                return true
            case .appendPage(let events, let epoch, let number):
                let header = MirrorHeader.page(of: events, epoch: epoch, journal: 101, writer: exporter.writer)
                append(Append(header: header, expected: number), fate)
                return true
            case .stop:
                faults.append("the exporter has stopped")
                return true
            }
        }
        faults.append("the exporter asks without an end")
        return true
    }
    private struct Append: Hashable {
        enum Fate { case made, unheard, late }
        let header: MirrorHeader
        var table = RunTable()
        let expected: UInt64
    }
    private mutating func append(_ message: Append, _ fate: Append.Fate) {
        if fate == .late {
            late = message
            exporter.appended(nil)
            return
        }
        let last = channel.append(message.header, message.table, expecting: message.expected)
        exporter.appended(fate == .made ? last : nil)
    }
    private mutating func land() -> Bool {
        guard let message = late else { return false }
        late = nil
        _ = channel.append(message.header, message.table, expecting: message.expected)
        return true
    }
    /// At most two events of one run.
    private func page(behind after: UInt64) -> ClosedRange<UInt64>? {
        let events = origin.journal.events
        guard after >= origin.journal.pruned, after < events.count else { return nil }
        let isLonger = after + 1 < events.count && events[Int(after)] == events[Int(after) + 1]
        return after + 1...after + (isLonger ? 2 : 1)
    }

    // MARK: The subscriber

    private mutating func subscribe() -> Bool {
        let before = subscriber
        switch subscriber.step(mirror) {
        case .nothing: return subscriber != before
        case .attached: break
        case .delivered(let event):
            if !origin.all.contains(event) { faults.append("\(event) was never published") }
            for (index, item) in subscriber.items.enumerated() {
                let expected = origin.event(UInt64(index) + 1, ofHistory: event.epoch)
                if case .event(let former) = item, former != expected {
                    faults.append("\(event) was delivered behind \(former)")
                }
            }
        case .missed(let range): checkGap(range, "the subscriber")
        case .replaced(let above, let undone):
            // Where the channel and the mirror have both forgotten a restored backup, nobody knows of it.
            if forgotSnapshot && wentBack { break }
            for item in undone {
                if case .event(let event) = item, !origin.undone.contains(event) {
                    faults.append("\(event) is no longer there above \(above), but nothing undid it")
                }
            }
        }
        return true
    }

    // MARK: Checks

    private mutating func check() {
        for event in origin.all where !excused.contains(event) {
            // The mirror may have removed it, with a history that comes back.
            if origin.hasPruned(event), !channel.has(event) || mirror.dropped.contains(event) { excused.insert(event) }
        }
        if let fault = mirror.fault { faults.append(fault) }
        let file = mirror.file
        guard let present = file.state.present?.epoch else { return }
        for (index, row) in file.rows.enumerated() {
            let sequence = file.base + UInt64(index) + 1
            let event = origin.event(sequence, ofHistory: present)
            if let row, event != ModelEvent(epoch: row, sequence: sequence) {
                faults.append("the mirror has #\(sequence) of run \(row) in the history of \(present)")
            }
            if row == nil { checkGap(sequence...sequence, "the mirror") }
        }
    }
    private mutating func checkGap(_ range: ClosedRange<UInt64>, _ who: String) {
        guard let present = mirror.file.state.present?.epoch else { return }
        for sequence in range {
            if let event = origin.event(sequence, ofHistory: present), !excused.contains(event) {
                faults.append("\(who) lacks \(event), which is still to be had")
            }
        }
    }
    /// Everybody does what there is to do, and nothing else happens: all have what the origin has.
    mutating func finish() {
        settle()
        if mirror.file.head != origin.journal.head {
            faults.append("\(origin.journal.head) events, \(mirror.file.head) at the mirror")
        }
        // Of a run without events a subscriber cannot know whether it leads to where it stands.
        origin.commit()
        settle()
        let (journal, file) = (origin.journal, mirror.file)
        if file.head != journal.head || subscriber.items.count != journal.events.count {
            faults.append("\(journal.head) events, \(file.head) at the mirror, \(subscriber.items.count) delivered")
        }
        for (index, (epoch, item)) in zip(journal.events, subscriber.items).enumerated() {
            let event = ModelEvent(epoch: epoch, sequence: UInt64(index) + 1)
            if case .event(let delivered) = item, delivered != event {
                faults.append("\(delivered) in place of \(event)")
            }
        }
        if file.state.present?.epoch != origin.epoch { faults.append("the mirror is in another run") }
    }
    private mutating func settle() {
        for _ in 0..<300 {
            let isBusy = [Input.export, .mirror, .subscribe].reduce(false) { apply($1) || $0 }
            if !isBusy { return }
        }
        faults.append("no rest")
    }
}

extension MirrorWorld.Input {
    /// Whether somebody may have removed something behind it, or the mirror have something else: what others do shows
    /// then, or in what the subscriber gets.
    fileprivate var changesWhatIsKept: Bool {
        switch self {
        case .commit, .backUp, .export, .exportUnheard, .killExporter, .sync, .foreign, .copyFile, .copyChannel,
            .exportLate, .land, .subscribe:
            false
        case .restart, .prune, .restore, .forget, .expire, .delete, .oldChannel, .mirror, .killMirror, .loseFile,
            .oldFile:
            true
        }
    }
}
