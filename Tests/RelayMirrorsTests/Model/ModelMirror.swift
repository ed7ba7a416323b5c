import RelayCore

@testable import RelayMirrors
/// A mirror with its file and its name on a bus, as a value.
struct ModelMirror: Hashable {
    /// What is in the file.
    struct File: Hashable {
        var state = ReplicaState()
        var base: UInt64 = 0
        /// The runs of the events behind the base; nil: a gap.
        var rows: [UInt64?] = []
        var head: UInt64 { base + UInt64(rows.count) }

        func has(_ event: ModelEvent) -> Bool {
            event.sequence > base && event.sequence <= head && rows[Int(event.sequence - base) - 1] == event.epoch
        }
        /// The runs that the replica has come to.
        var runs: [StreamRun] { state.table.runs.filter { $0.first <= head + 1 } }
        /// The run that a sequence is of.
        func run(of sequence: UInt64) -> UInt64 { state.table.runs.last { $0.first <= sequence }?.epoch ?? 0 }
    }
    struct Connection: Hashable {
        let number: Int
        let epoch: UInt64
    }
    private(set) var file = File()
    private var backup: File?
    private(set) var machine = MirrorMachine(ReplicaState())
    /// The bus's, that the name is owned by.
    private(set) var connection: Connection?
    private var connections = 0
    /// Events that were removed because their history was another one.
    private(set) var dropped: Set<ModelEvent> = []
    private(set) var fault: String?
    let removed: Rule?

    init(without rule: Rule?) { removed = rule }

    /// Asks, reads and commits, up to the next message that counts. False: there is nothing to do.
    mutating func step(_ channel: ModelChannel) -> Bool {
        let before = self
        var hasLooked = false
        for _ in 0..<40 {
            switch machine.demand {
            case .connect: machine.connected()
            case .look:
                // Again after a while.
                if hasLooked { return self != before }
                hasLooked = true
                commit(machine.found(channel.bounds, newest: channel.newest), nil)
            case .message(let number):
                if number > channel.bounds.last { return self != before }
                if number < channel.bounds.first {
                    machine.removed(through: channel.bounds.first - 1)
                    break
                }
                var news = channel.news(number)
                if removed == .bookmark, let bookmark = file.state.bookmark, bookmark.number == number {
                    news = .page(bookmark.header)
                }
                let change = machine.received(news, at: number)
                commit(change, news.header)
                if !change.isNothing { return true }
            }
        }
        fault = "the mirror asks without an end"
        return true
    }
    private mutating func commit(_ change: ReplicaChange, _ header: MirrorHeader?) {
        if let keeps = change.keepsThrough {
            if keeps >= file.head { fault = "nothing is above \(keeps)" }
            while file.head > max(keeps, file.base) {
                if let row = file.rows.last, let epoch = row {
                    dropped.insert(ModelEvent(epoch: epoch, sequence: file.head))
                }
                file.rows.removeLast()
            }
            file.base = min(file.base, keeps)
        }
        if let base = change.base {
            if file.head != 0 { fault = "another base" }
            file.base = base
        }
        if let gap = change.gap { append(gap, nil) }
        if let events = change.events { append(events, header?.epoch) }
        file.state = machine.replica
        serve()
    }
    private mutating func append(_ range: ClosedRange<UInt64>, _ epoch: UInt64?) {
        if range.lowerBound != file.head + 1 { fault = "\(range) behind \(file.head)" }
        file.rows += [UInt64?](repeating: epoch, count: range.count)
    }
    /// Nothing of the last change has left yet.
    private mutating func serve() {
        while let step = machine.serviceStep {
            switch step {
            case .end:
                // The name goes on as it was, to the next run.
                if removed == .connections { return }
                connection = nil
                machine.ended()
            case .open(let epoch):
                connections += 1
                connection = Connection(number: connections, epoch: epoch)
                machine.opened(epoch: epoch)
            }
        }
    }
    mutating func disconnect() { machine.disconnected() }

    // MARK: The file

    mutating func die() { start(with: file) }
    mutating func loseFile() -> Bool {
        if file == File() { return false }
        start(with: File())
        return true
    }
    mutating func backUp() -> Bool {
        if backup == file { return false }
        backup = file
        return true
    }
    mutating func restore() -> Bool {
        guard let backup, backup != file else { return false }
        start(with: backup)
        return true
    }
    private mutating func start(with file: File) {
        self.file = file
        machine = MirrorMachine(file.state)
        connection = nil
    }
}

/// What makes a mirror right, which a test takes away.
enum Rule: CaseIterable {
    /// One bus connection for each run of the origin.
    case connections
    /// The newest known run is open.
    case open
    /// The bookmark is compared on each connection.
    case bookmark
}
