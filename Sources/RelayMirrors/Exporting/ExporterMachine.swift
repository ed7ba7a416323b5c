package import RelayCore

/// What an exporter does next, as a value. All that it knows is in the channel and at the origin.
///
/// The caller performs `demand`, and reports the result.
package struct ExporterMachine: Hashable, Sendable {
    package enum Demand: Hashable, Sendable {
        case connect
        /// The channel's bounds, and its newest whole snapshot: `found`.
        case look
        /// One message, whatever it is: `received`.
        case message(UInt64)
        /// All runs of the origin, and the oldest sequence that it still has: `attached`.
        case attach
        /// Events behind a sequence, as soon as there are some: `read`.
        case read(after: UInt64)
        /// A snapshot of the origin with this position and table, all parts of it: `appended`.
        case appendSnapshot(position: UInt64, RunTable, expecting: UInt64)
        /// The page that was read: `appended`.
        case appendPage(ClosedRange<UInt64>, epoch: UInt64, expecting: UInt64)
        /// Another exporter, with this writer id, exports another history of the same host's service. End.
        case stop(writer: UInt64)
    }
    /// Where the channel stands, as far as this exporter knows.
    private struct Place: Hashable {
        /// The last message's.
        var number: UInt64
        /// The last page's or snapshot's; nil: there is none that could be found.
        var tail: MirrorHeader?
        var newest: FoundSnapshot?
    }
    /// Where the export stands in the origin's history.
    private struct Export: Hashable {
        /// The channel's last number.
        var number: UInt64
        var position: UInt64
        /// The snapshot's.
        let table: RunTable
        /// The first number of the snapshot that is of the present run; nil: it is due.
        var snapshot: UInt64?
    }
    private enum State: Hashable {
        case apart, asking
        case searching(BackwardSearch, Place)
        case attaching(Place)
        case exporting(Export)
        case appending(Export, ClosedRange<UInt64>, epoch: UInt64)
        case stopped(writer: UInt64)
    }
    private var state = State.apart
    /// This exporter's random number.
    package let writer: UInt64
    private var hasAppended = false
    /// All runs that the channel and the origin have named so far: each began before the present one.
    private var epochs: Set<UInt64> = []

    package init(writer: UInt64) { self.writer = writer }

    package var demand: Demand {
        switch state {
        case .apart: .connect
        case .asking: .look
        case .searching(let search, _): .message(search.next)
        case .attaching: .attach
        case .exporting(let export) where export.snapshot == nil:
            .appendSnapshot(position: export.position, export.table, expecting: export.number)
        case .exporting(let export): .read(after: export.position)
        case .appending(let export, let events, let epoch):
            .appendPage(events, epoch: epoch, expecting: export.number)
        case .stopped(let writer): .stop(writer: writer)
        }
    }

    // MARK: The channel

    package mutating func connected() { if case .apart = state { state = .asking } }
    /// The carrier's connection has ended.
    package mutating func disconnected() { leave(to: .apart) }
    private mutating func leave(to next: State) {
        if case .stopped = state { return }
        state = next
    }
    package mutating func found(_ bounds: ChannelBounds, newest: FoundSnapshot?) {
        guard case .asking = state else { return }
        let place = Place(number: bounds.last, newest: newest)
        if let newest { epochs.formUnion(newest.table.epochs) }
        if bounds.first > bounds.last {
            state = .attaching(place)
        } else {
            state = .searching(BackwardSearch(bounds), place)
        }
    }
    package mutating func received(_ news: MirrorNews) {
        guard case .searching(var search, var place) = state else { return }
        if let newest = place.newest, newest.numbers.upperBound == search.next {
            place.tail = newest.header
        } else if case .page(let header) = news {
            place.tail = header
        } else if search.goBack() {
            state = .searching(search, place)
            return
        }
        if let tail = place.tail { epochs.insert(tail.epoch) }
        state = .attaching(place)
    }
    /// The carrier has removed its messages below a number: the snapshot may be gone.
    package mutating func removed(below first: UInt64) {
        guard case .exporting(var export) = state, let snapshot = export.snapshot, snapshot < first else { return }
        export.snapshot = nil
        state = .exporting(export)
    }

    // MARK: The origin

    /// - Parameters:
    ///   - runs: all of them, the present one last.
    ///   - oldest: the oldest sequence that can be read.
    package mutating func attached(runs: [StreamRun], oldest: UInt64) {
        guard case .attaching(let place) = state, let present = runs.last else { return }
        // To somebody else the origin's present run is one that began before another: that is another origin's.
        if hasAppended, let newest = place.newest, newest.header.writer != writer,
            newest.header.epoch != present.epoch, newest.table.knows(present.epoch)
        {
            state = .stopped(writer: newest.header.writer)
            return
        }
        var position: UInt64 = 0
        if let tail = place.tail {
            let ancestry = place.newest.map(\.table.runs) ?? []
            position = RunTable.common(tail.epoch, tail.last, ancestry: ancestry, with: runs)
        }
        position = max(position, oldest - min(oldest, 1))
        epochs.formUnion(runs.map(\.epoch))
        let table = RunTable(runs, undone: epochs.subtracting(runs.map(\.epoch)))
        var export = Export(number: place.number, position: position, table: table)
        if let newest = place.newest, newest.header.epoch == present.epoch, position == place.tail?.last {
            export.snapshot = newest.numbers.lowerBound
        }
        state = .exporting(export)
    }
    /// The origin's name has another owner.
    package mutating func originChanged() {
        switch state {
        case .apart, .asking, .searching, .attaching, .stopped: break
        // An append may be under way.
        case .exporting, .appending: state = .asking
        }
    }
    /// - Parameters:
    ///   - events: those behind the position, of one run; nil: there are none yet.
    ///   - oldest: the oldest sequence that can be read.
    package mutating func read(_ events: ClosedRange<UInt64>?, epoch: UInt64, oldest: UInt64) {
        guard case .exporting(var export) = state, export.snapshot != nil else { return }
        if oldest > export.position + 1 {
            (export.position, export.snapshot) = (oldest - 1, nil)
            state = .exporting(export)
        } else if let events, events.lowerBound == export.position + 1 {
            // Of a run that began meanwhile there is no snapshot yet.
            state = export.table.has(epoch) ? .appending(export, events, epoch: epoch) : .asking
        }
    }

    // MARK: Appending

    /// - Parameter last: the channel's last number, if all of it was added; nil: it was not, or nobody knows.
    package mutating func appended(_ last: UInt64?) {
        guard let last else {
            switch state {
            case .exporting, .appending: state = .asking
            case .apart, .asking, .searching, .attaching, .stopped: break
            }
            return
        }
        hasAppended = true
        switch state {
        case .exporting(var export) where export.snapshot == nil:
            (export.snapshot, export.number) = (export.number + 1, last)
            state = .exporting(export)
        case .appending(var export, let events, _):
            (export.position, export.number) = (events.upperBound, last)
            state = .exporting(export)
        case .exporting, .apart, .asking, .searching, .attaching, .stopped: break
        }
    }
}
