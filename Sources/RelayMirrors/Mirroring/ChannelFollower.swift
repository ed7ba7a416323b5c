import RelayCore
import RelayJournal

/// Follows one channel: performs what its `MirrorMachine` demands, and makes parts of transactions of what comes.
///
/// Whatever it returns is to be committed, in order, before anything is done at the bus. What was not committed is
/// followed anew, by another follower that begins with the replica's state.
struct ChannelFollower {
    /// What one message changes.
    struct Change {
        var part: ReplicaTransaction.Part
        /// What is kept of the place behind it. Of several that are committed together, the last one's counts.
        let place: KeptPlace
        /// When its last event was published; nil: it has none.
        let lastAt: Timestamp?
        /// What its events take, about.
        let size: Int
    }
    enum Step {
        case change(Change)
        /// Nothing changes; a message was looked at.
        case passed
        /// There is nothing behind this number yet; nil: nothing to follow at all.
        case nothing(behind: UInt64?)
    }
    let interface: String
    private(set) var machine: MirrorMachine
    /// The contracts of runs, from their snapshots: those of the present run and behind.
    private(set) var contracts: ContractsOfRuns
    private var parts = SnapshotParts()
    /// As far as it is known.
    private var last: UInt64 = 0
    /// How many messages of the channel, as far as it is known, are not taken in.
    var lag: UInt64 { if case .message(let next) = machine.demand, next <= last { last - next + 1 } else { 0 } }
    private enum Message {
        case whole(MirrorMessage)
        case foreign
    }
    /// What was read behind what was wanted.
    private var ahead: MessageBatch?
    private static let readAhead = 1 << 20
    /// The last one: most have the same schemas.
    private var page: MirrorPage?
    /// For people.
    struct Figures {
        /// The channel's last event when that was looked at, which is while there is a lag; 0: it was not.
        var head: UInt64 = 0
        var duplicates: UInt64 = 0
        var resyncs: UInt64 = 0
    }
    private(set) var figures = Figures()
    /// When the channel's head may be looked at again.
    private var nextLook: UInt64 = 0
    /// Looked at last, and asked for again since.
    private var hasLooked = false

    init(_ interface: String, _ kept: KeptPlace) {
        (self.interface, machine, contracts) = (interface, MirrorMachine(kept.replica), kept.contracts)
    }
    mutating func connected() {
        machine.connected()
        (parts, last, hasLooked, ahead) = (SnapshotParts(), 0, false, nil)
    }
    mutating func disconnected() { machine.disconnected() }
    mutating func ended() { machine.ended() }
    mutating func opened(epoch: UInt64) { machine.opened(epoch: epoch) }
    /// The contract to serve a run by.
    func contract(of epoch: UInt64) -> String? { contracts.contract(of: epoch, in: machine.replica.table.runs) }

    /// Does one thing. Throws what the carrier throws: the connection is of no use any more.
    mutating func step(_ source: any MirrorSource) async throws(RelayError) -> Step {
        switch machine.demand {
        case .connect: return .nothing(behind: nil)
        case .look:
            if hasLooked {
                hasLooked = false
                return .nothing(behind: last)
            }
            hasLooked = true
            return try await look(source)
        case .message(let number):
            hasLooked = false
            if number > last { last = try await source.bounds().last }
            if number > last { return .nothing(behind: last) }
            return try await read(number, source)
        }
    }
    private mutating func look(_ source: any MirrorSource) async throws(RelayError) -> Step {
        let bounds = try await source.bounds()
        last = bounds.last
        // The history may be another one.
        (figures.head, nextLook) = (0, 0)
        figures.resyncs += 1
        guard let (newest, snapshot) = try await source.newestSnapshot(within: bounds) else { return .passed }
        contracts.learn(snapshot)
        let before = machine.replica
        let change = machine.found(bounds, newest: newest)
        return step(change, nil, snapshot, since: before)
    }
    /// The message that is wanted, of those that were read ahead where it is among them.
    private mutating func next(_ number: UInt64, _ source: any MirrorSource) async throws(RelayError) -> Message? {
        if ahead.map({ number < $0.first || number >= $0.first + UInt64($0.count) }) ?? true {
            ahead = try await source.messages(from: number, atMost: Self.readAhead)
        }
        guard let ahead, number >= ahead.first else { return nil }
        return ahead.withMessage(Int(number - ahead.first)) { bytes in
            do throws(RelayError) { return .whole(try MirrorMessage(bytes)) } catch { return .foreign }
        }
    }
    /// How far the channel is ahead of what was read; once a second, as it is a question to the carrier.
    private mutating func learnHead(_ source: any MirrorSource) async throws(RelayError) {
        guard lag > 1, MonotonicClock.now >= nextLook else { return }
        nextLook = MonotonicClock.deadline(after: .seconds(1))
        if let header = try await source.whole(last)?.header { figures.head = max(figures.head, header.last) }
    }
    private mutating func read(_ number: UInt64, _ source: any MirrorSource) async throws(RelayError) -> Step {
        try await learnHead(source)
        guard let found = try await next(number, source) else {
            let first = try await source.bounds().first
            if number < first {
                machine.removed(through: first - 1)
                return .passed
            }
            return take(.other, nil, nil, at: number)
        }
        let message: MirrorMessage? = if case .whole(let message) = found { message } else { nil }
        let whole = parts.take(message, at: number)
        switch message?.header.kind {
        case .page?:
            guard let message, let page = try? MirrorPage(message, like: page) else { break }
            self.page = page
            return take(.page(message.header), page, nil, at: number)
        case .snapshot?:
            // Whoever looks at one message alone has not seen the parts before it.
            let found =
                if let whole, let header = message?.header { MirrorSnapshot.found(whole, number...number, header) } else
                {
                    try await source.snapshot(endingAt: number)
                }
            guard let (found, snapshot) = found else { break }
            contracts.learn(snapshot)
            return take(.snapshot(found.header, found.table), nil, snapshot, at: number)
        case nil: break
        }
        return take(.other, nil, nil, at: number)
    }
    private mutating func take(
        _ news: MirrorNews, _ page: MirrorPage?, _ snapshot: MirrorSnapshot?, at number: UInt64
    ) -> Step {
        let before = machine.replica
        return step(machine.received(news, at: number), page, snapshot, since: before)
    }
    private mutating func step(
        _ change: ReplicaChange, _ page: MirrorPage? = nil, _ snapshot: MirrorSnapshot? = nil,
        since before: ReplicaState
    ) -> Step {
        let replica = machine.replica
        if replica == before {
            if page != nil { figures.duplicates += 1 }
            return .passed
        }
        var part = ReplicaTransaction.Part(interface)
        (part.keepsThrough, part.base, part.gap) = (change.keepsThrough, change.base, change.gap)
        if let events = change.events, let page {
            let taken = page.events.filter { events.contains($0.stamp.sequence) }
            part.events = ReplicaEvents(
                epoch: taken.first?.stamp.epoch ?? 0, first: events.lowerBound,
                taken.map { ReplicaEvents.Event(schema: $0.schema, body: $0.body) }, in: page.bytes)
            part.schemas = page.schemas
        }
        if let snapshot { part.schemas = snapshot.schemas }
        if change.takesStates, let snapshot {
            part.states = ReplicaStates(
                position: replica.position ?? 0, last: snapshot.last,
                documents: snapshot.documents.map {
                    ReplicaStates.Document(name: $0.name, sequence: $0.sequence, schema: $0.schema, fields: $0.state)
                })
        }
        // Those that the file has lead to the present one.
        if change.keepsThrough != nil || replica.present != before.present || replica.table.runs != before.table.runs,
            let present = replica.present
        {
            part.runs = Array(replica.table.runs.prefix { $0 != present }) + [present]
            contracts.drop(before: present.epoch, in: replica.table.runs)
        }
        let place = KeptPlace(replica: replica, contracts: contracts)
        let lastAt = page?.events.last?.stamp.publishedAt
        return .change(Change(part: part, place: place, lastAt: lastAt, size: page?.bytes.count ?? 1_024))
    }
}
