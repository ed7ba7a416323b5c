/// Positioned subscriptions: each a member of its interface's lane, with a feed.
extension FollowerCore {
    /// Begins to fill a feed. From any thread; what is published after this misses nothing of it.
    func add<Payload>(
        _ source: FeedSource<Payload>, to interface: String, names: Set<String>?, from start: LaneStart,
        searching time: Timestamp?
    ) {
        let feed = source.feed
        let member = LaneMember(
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
            if state.onLoop.isInvalidated { return feed.finish() }
            let lane = lane(interface)
            lane.add(member)
            updateRules(lane)
            begin(member)
            run(member.machine.want(names), member, lane)
            if member.search != nil { seek(member, lane) }
            tellLasting(lane)
        }
    }
    private func remove(_ member: LaneMember, _ interface: String) {
        guard let lane = state.onLoop.lanes[interface] else { return }
        lane.remove(member)
        state.onLoop.reads.withdraw(member)
        updateRules(lane)
        endTransportIfUnused(lane)
        readNext()
        settle()
    }
    private func found(_ room: Feed.Room, _ member: LaneMember) {
        if room.contains(.signals), let lane = lane(of: member) { run(member.machine.resume(), member, lane) }
        if room.contains(.page) { readNext() }
    }
    /// Looks for the place to begin at, once there is somebody to ask.
    func seek(_ member: LaneMember, _ lane: FollowedLane) {
        guard state.onLoop.owner != nil else { return }
        read(after: 0, member, lane)
    }
}
