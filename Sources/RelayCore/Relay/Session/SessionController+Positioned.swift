/// Positioned subscriptions: each a member of its interface's stream, with a feed.
extension SessionController {
    /// Begins to fill a feed. From any thread; what is published after this misses nothing of it.
    func add<Payload>(
        _ source: ReplaySource<Payload>, to interface: String, names: Set<String>?, from start: StreamStart,
        searching time: Timestamp?
    ) {
        let feed = source.feed
        let member = StreamSubscriber(
            names: names, from: start, isDurable: durable.contains(interface), searching: time.map { TimeSearch($0) },
            feed, token: source.token, learn: source.learn)
        feed.onRoom { [weak self] room in
            guard let self else { return }
            loop.execute { [weak self] in self?.found(room, member) }
        }
        source.onEnd { [weak self] in
            guard let self else { return }
            loop.execute { [weak self] in self?.remove(member, interface) }
        }
        loop.execute { [self] in
            if state.onLoop.session.isOver { return feed.finish() }
            let stream = stream(interface)
            stream.add(member)
            updateRules(stream)
            begin(member)
            run(member.machine.want(names), member, stream)
            if member.search != nil { seek(member, stream) }
            tellLasting(stream)
        }
    }
    private func remove(_ member: StreamSubscriber, _ interface: String) {
        guard let stream = state.onLoop.streams[interface] else { return }
        stream.remove(member)
        state.onLoop.reads.withdraw(member)
        updateRules(stream)
        endTransportIfUnused(stream)
        readNext()
        settle()
    }
    private func found(_ room: ReplayBuffer.Room, _ member: StreamSubscriber) {
        if room.contains(.signals), let stream = stream(of: member) { run(member.machine.resume(), member, stream) }
        if room.contains(.page) { readNext() }
    }
    /// Looks for the place to begin at, once there is somebody to ask.
    func seek(_ member: StreamSubscriber, _ stream: FollowedStream) {
        guard state.onLoop.owner != nil else { return }
        read(after: 0, member, stream)
    }
}

/// A positioned subscription for tools, which know no Swift types and set the pace.
///
/// - Order: that of the interface. Loss, and what is gone: `.gap` in its place.
/// - Isolation: from any thread; made for one that takes.
/// - Memory: two pages, and the buffer's limit of signals, however slow the tool is.
/// - Cancellation: `cancel()`, or release.
package final class EnvelopeSubscription: Sendable {
    private let source: ReplaySource<Envelope>

    init(_ source: ReplaySource<Envelope>, onNews: @escaping @Sendable () -> Void) {
        self.source = source
        source.feed.onNews(onNews)
    }
    deinit { source.cancel() }

    /// The next event or gap. Nil: none now, and `onNews` tells when there is; or none any more, if `isOver`.
    package func next() -> FollowedDelivery? {
        switch source.next() {
        case .event(let envelope, _)?: .event(envelope)
        case .gap(let gap)?: .gap(gap)
        case .caughtUp?: .caughtUp
        case nil: nil
        }
    }
    /// Everything up to this one was written out: its cursor, if it has one, may move on. In order.
    package func acknowledge(_ delivery: FollowedDelivery) {
        switch delivery {
        case .event(let envelope):
            source.acknowledge(ReplayBuffer.Place(epoch: envelope.stamp.epoch, sequence: envelope.stamp.sequence))
        case .gap(let gap): if let place = ReplaySource<Envelope>.place(behind: gap) { source.acknowledge(place) }
        case .caughtUp: break
        }
    }
    /// Nothing comes any more, and everything was taken.
    package var isOver: Bool { source.feed.isOver }
    /// Ends it, and writes its cursor; the cursor's name is free when this returns. Any number of times.
    package func cancel() { source.cancel() }
}
