import RelayCore

/// What a mirror does next, as a value: with the channel, and with its name on the bus.
///
/// The caller performs `demand` and `serviceStep`, and reports the result. It commits each change before it goes on,
/// with the replica's state in the same transaction.
package struct MirrorMachine: Hashable, Sendable {
    package enum Demand: Hashable, Sendable {
        case connect
        /// The bounds and the newest whole snapshot: `found`.
        case look
        /// One message, whatever it is: `received`. Behind the last one: wait for it.
        case message(UInt64)
    }
    package enum ServiceStep: Hashable, Sendable {
        /// Send what the run has, `End`, end the ring, and close the connection.
        case end(epoch: UInt64)
        /// Open a connection, export the replica as this run, and own the name.
        case open(epoch: UInt64)
    }
    /// As it was found.
    private struct Channel: Hashable {
        let bounds: ChannelBounds
        let horizon: ReplicaState.Horizon
    }
    private enum State: Hashable {
        case apart, asking
        case checking(ReplicaState.Bookmark, Channel)
        case searching(BackwardSearch, Channel)
        case reading(next: UInt64, ReplicaState.Horizon)
    }
    private var state = State.apart
    package private(set) var replica: ReplicaState
    /// What was the channel's end when it was found: from there on the name may be owned.
    private var goal: UInt64?
    /// The replica has come to the channel's end once.
    package private(set) var isCaughtUp = false
    /// The run of the connection that there is.
    private var served: UInt64?
    /// The replica has lost events since it was opened.
    private var isTurned = false

    package init(_ replica: ReplicaState) { self.replica = replica }

    // MARK: The channel

    package var demand: Demand {
        switch state {
        case .apart: .connect
        case .asking: .look
        case .checking(let bookmark, _): .message(bookmark.number)
        case .searching(let search, _): .message(search.next)
        case .reading(let next, _): .message(next)
        }
    }
    package mutating func connected() { state = .asking }
    /// The carrier's connection has ended, or an answer contradicts another.
    package mutating func disconnected() { state = .apart }

    /// - Parameter newest: the newest whole snapshot; nil: there is none. Nobody knows then
    ///   which messages are of the history: ask again after a while, as whenever the same is demanded again.
    package mutating func found(_ bounds: ChannelBounds, newest: FoundSnapshot?) -> ReplicaChange {
        guard case .asking = state, let newest else { return ReplicaChange() }
        let change = replica.learn(newest.table)
        if change.keepsThrough != nil { isTurned = true }
        goal = bounds.last
        let isPresent = newest.header.epoch == replica.table.runs.last?.epoch
        let horizon = ReplicaState.Horizon(
            number: newest.numbers.upperBound, position: isPresent ? newest.header.last : nil)
        let channel = Channel(bounds: bounds, horizon: horizon)
        if let bookmark = replica.bookmark, bookmark.number >= bounds.first {
            if bookmark.number <= bounds.last {
                state = .checking(bookmark, channel)
            } else {
                search(channel)
            }
        } else {
            read(from: bounds.first, horizon)
        }
        return change
    }
    package mutating func received(_ news: MirrorNews, at number: UInt64) -> ReplicaChange {
        switch state {
        case .apart, .asking: break
        case .checking(let bookmark, let channel):
            if news.header == bookmark.header {
                read(from: bookmark.number + 1, channel.horizon)
            } else {
                search(channel)
            }
        case .searching(var search, let channel):
            if replica.has(news) {
                read(from: search.next + 1, channel.horizon)
            } else if search.goBack() {
                state = .searching(search, channel)
            } else {
                read(from: channel.bounds.first, channel.horizon)
            }
        case .reading(let next, var horizon):
            guard number == next else { break }
            // The snapshot of its run was removed before it was read: another one will come. Or the history is another
            // one: the channel may have some of it that was passed over.
            if number > horizon.number, replica.lacksRun(of: news) || replica.parts(from: news) {
                state = .asking
                break
            }
            let change = replica.take(news, at: number, &horizon)
            read(from: next + 1, horizon)
            return change
        }
        return ReplicaChange()
    }
    /// The carrier has removed its messages up to a number.
    package mutating func removed(through number: UInt64) {
        if case .reading(let next, let horizon) = state, next <= number { read(from: number + 1, horizon) }
    }
    private mutating func search(_ channel: Channel) {
        state = .searching(BackwardSearch(channel.bounds), channel)
    }
    private mutating func read(from next: UInt64, _ horizon: ReplicaState.Horizon) {
        state = .reading(next: next, horizon)
        if let goal, next > goal { isCaughtUp = true }
    }

    // MARK: The bus

    /// What is to be done at the bus before anything of the last change is sent; nil: nothing.
    package var serviceStep: ServiceStep? {
        if let served { return isTurned || served != replica.present?.epoch ? .end(epoch: served) : nil }
        guard isCaughtUp, let present = replica.present else { return nil }
        return .open(epoch: present.epoch)
    }
    package mutating func ended() { served = nil }
    package mutating func opened(epoch: UInt64) { (served, isTurned) = (epoch, false) }
}
