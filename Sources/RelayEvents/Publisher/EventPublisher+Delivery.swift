extension EventPublisher {
    /// What a publish leaves to code that knows the event's type.
    @usableFromInline package struct Rest: OptionSet, Sendable {
        @usableFromInline package let rawValue: UInt8
        @usableFromInline package init(rawValue: UInt8) { self.rawValue = rawValue }
        @usableFromInline package static let none = Self([])
        /// There are taps.
        static let taps = Self(rawValue: 1)
        /// Nothing was delivered: the type has no channel, and a stream of its interface may want it.
        static let everything = Self(rawValue: 2)
        /// Nothing was delivered: there are queues. Not seen outside.
        fileprivate static let queues = Self(rawValue: 4)
    }

    /// What `publish` and the relay share: the relay brings the stamp of the wire.
    ///
    /// Order: events and gaps of one thread reach every subscriber in the order of these calls.
    package func deliver<E: Event>(_ event: E, stamp: Stamp?) {
        // The pointer is used only during the call.
        let rest = withUnsafePointer(to: event) { deliver(UnsafeRawPointer($0), ObjectIdentifier(E.self), stamp) }
        if rest != .none { deliverRest(rest, of: event, stamp) }
    }

    @usableFromInline package func deliver(_ event: UnsafeRawPointer, _ type: ObjectIdentifier, _ given: Stamp?) -> Rest
    {
        let (immediate, rest) = state.withLock { state -> (ContiguousArray<ImmediateSubscriber>?, Rest) in
            let rest: Rest = state.taps.isEmpty ? .none : .taps
            guard let channel = state.channels.reference(for: type) else {
                if !state.interfaceStreams.isEmpty { return (nil, .everything) }
                state.sequence &+= 1
                return (nil, rest)
            }
            return channel._withUnsafeGuaranteedRef { channel in
                if !channel.buffered.isEmpty { return (nil, .queues) }
                state.sequence &+= 1
                if given == nil { channel.previous = state.sequence }
                return (channel.immediate, rest)
            }
        }
        if rest == .queues { return deliverToQueues(event, type, given) }
        if let immediate { call(immediate, event) }
        return rest
    }
    /// Where there are queues, too. Apart, under the lock once more: what they leave to do is much to take apart for
    /// who has none.
    @inline(never) private func deliverToQueues(
        _ event: UnsafeRawPointer, _ type: ObjectIdentifier, _ given: Stamp?
    ) -> Rest {
        nonisolated(unsafe) let event = event  // Valid, and only read, until this returns.
        var after = AfterUnlock()
        let (immediate, rest, atOnce) = state.withLock {
            state -> (ContiguousArray<ImmediateSubscriber>?, Rest, Mailbox?) in
            guard let channel = state.channels.value(for: type) else { return (nil, .queues, nil) }
            state.sequence &+= 1
            offer(event, to: channel, given, state.sequence, &after)
            if given == nil { channel.previous = state.sequence }
            return (channel.immediate, state.taps.isEmpty ? .none : .taps, state.atOnce)
        }
        // Its last subscription has just ended.
        if rest == .queues { return deliver(event, type, given) }
        after.run()
        if let immediate { call(immediate, event) }
        if let atOnce, MainQueue.isCurrent { atOnce.deliverAtOnce() }
        return rest
    }
    @inline(__always) private func call(_ immediate: ContiguousArray<ImmediateSubscriber>, _ event: UnsafeRawPointer) {
        // The list keeps them, also one that cancels itself: not counted once more.
        withExtendedLifetime(immediate) {
            for index in immediate.indices {
                Unmanaged.passUnretained(immediate[index])._withUnsafeGuaranteedRef { $0.take(event) }
            }
        }
    }
    /// Under the lock.
    private func offer(
        _ event: UnsafeRawPointer, to channel: Channel, _ given: Stamp?, _ sequence: UInt64, _ after: inout AfterUnlock
    ) {
        // The clock is read only for subscribers that can see the time.
        let time = given == nil && channel.showsStamps ? Timestamp.now : Timestamp(microseconds: 0)
        let stamp = given ?? Stamp(epoch: epoch, sequence: sequence, previous: channel.previous, publishedAt: time)
        // If nobody keeps the box it goes under the lock, which is safe: what it holds is also held by the caller's
        // event.
        let box = channel.box(event)
        for delivery in channel.buffered { delivery.offer(box, stamp, &after) }
    }
    @inline(never) @usableFromInline package func deliverRest<E: Event>(_ rest: Rest, of event: E, _ given: Stamp?) {
        if rest.contains(.everything) {
            state.withLock { state in _ = state.channel(for: E.self) }
            return deliver(event, stamp: given)
        }
        for tap in state.withLock({ $0.taps }) { tap.call(event) }
    }

    // MARK: Gaps

    /// Puts a gap in the place where events of these types are missing: once for each subscription to any of them.
    package func deliver(_ gap: Gap, to types: [any Event.Type]) {
        deliver(gap) { state in types.compactMap { state.channels.value(for: ObjectIdentifier($0)) } }
    }
    /// Puts a gap in the place where any events of an interface may be missing: once for each subscription to any of
    /// them.
    package func deliver(_ gap: Gap, in interface: any EventInterface.Type) {
        let id = ObjectIdentifier(interface)
        deliver(gap) { state in state.channels.all.filter { $0.interface == id } }
    }
    /// Puts a gap that lasts in the place where events are missing: each subscription gets it once, also one that comes
    /// later. With `isNew`, all subscriptions get it; else only those that came since.
    package func deliver(lasting gap: Gap, isNew: Bool, to types: [any Event.Type]) {
        deliver(gap, isNew ? .everyoneOnce : .newcomers) { state in
            types.compactMap { state.channels.value(for: ObjectIdentifier($0)) }
        }
    }
    package func deliver(lasting gap: Gap, isNew: Bool, in interface: any EventInterface.Type) {
        let id = ObjectIdentifier(interface)
        deliver(gap, isNew ? .everyoneOnce : .newcomers) { state in
            state.channels.all.filter { $0.interface == id }
        }
    }
    private enum GapAudience { case everyone, everyoneOnce, newcomers }
    private func deliver(
        _ gap: Gap, _ audience: GapAudience = .everyone, to channels: (borrowing PublisherState) -> [Channel]
    ) {
        var after = AfterUnlock()
        let immediate = state.withLock { state in
            var notified: Set<ObjectIdentifier> = []
            var immediate: [ImmediateSubscriber] = []
            for channel in channels(state) {
                // A channel without a record of them has notified nobody.
                let newcomers = audience == .newcomers ? channel.newcomers : nil
                if audience != .everyone { channel.welcomeNewcomers() }
                if newcomers?.isEmpty == true { continue }
                func isMeant(_ subscriber: AnyObject) -> Bool {
                    let id = ObjectIdentifier(subscriber)
                    return newcomers?.contains(id) != false && notified.insert(id).inserted
                }
                // A stream of an interface is in several channels; a type may be given twice.
                for delivery in channel.buffered where isMeant(delivery) {
                    delivery.offer(gap, &after)
                }
                for subscriber in channel.immediate where isMeant(subscriber) {
                    immediate.append(subscriber)
                }
            }
            return immediate
        }
        after.run()
        for subscriber in immediate { subscriber.call(gap) }
    }
}
