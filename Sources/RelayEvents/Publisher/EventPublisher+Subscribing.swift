import Synchronization

extension EventPublisher {
    func subscribe<E: Event>(
        _ type: E.Type, _ buffer: EventBuffer, _ handler: @escaping @isolated(any) @Sendable (E) -> Void,
        _ onGap: @escaping @isolated(any) @Sendable (Gap) -> Void
    ) -> Subscription {
        // A handler that is on no actor goes where its gap handler has to be.
        if let actor = handler.isolation ?? onGap.isolation {
            // Called from one actor, the other's handler is waited for.
            let areApart = onGap.isolation.map { $0 !== actor } ?? false
            if case .immediate = delivery.kind, actor === MainActor.shared {
                let gapHandler: Handler<Gap> = areApart ? onActor(onGap) { $0 } : .sync(unisolated(onGap))
                return Subscription(addAtOnce(E.self, buffer, unisolated(handler), gapHandler, maySuspend: areApart))
            }
            let body = add(
                E.self, .closures(on: actor), buffer, onActor(handler) { EventBox<E>.value(in: $0) },
                onActor(onGap) { $0 }, maySuspend: areApart)
            return Subscription(body)
        }
        let plain = unisolated(handler)
        return subscribe(delivery, buffer, plain, unisolated(onGap)) {
            plain($0.assumingMemoryBound(to: E.self).pointee)
        }
    }
    @usableFromInline func subscribe<E: Event>(
        _ target: DeliveryTarget, _ buffer: EventBuffer, _ handler: @escaping @Sendable (E) -> Void,
        _ onGap: @escaping @Sendable (Gap) -> Void, _ immediate: @escaping @Sendable (UnsafeRawPointer) -> Void
    ) -> Subscription {
        if case .immediate = target.kind {
            let subscriber = ImmediateSubscriber(immediate, onGap) { [weak self] subscriber in
                self?.change(E.self) { channel, _ in channel.removeImmediate(subscriber) }
            }
            change(E.self) { channel, _ in channel.addImmediate(subscriber) }
            return Subscription(subscriber)
        }
        return Subscription(
            add(
                E.self, .closures(target), buffer, .sync { handler(EventBox<E>.value(in: $0)) }, .sync(onGap)))
    }

    /// A handler on the main actor, of a publisher that delivers at once. It is called there only: by its mailbox, and by
    /// what publishes there. So it is synchronous.
    private func addAtOnce<E: Event>(
        _ type: E.Type, _ buffer: EventBuffer, _ handler: @escaping @Sendable (E) -> Void, _ onGap: Handler<Gap>,
        maySuspend: Bool
    ) -> BufferedSubscriber {
        let body = add(
            type, .closures(on: MainActor.shared), buffer, .sync { handler(EventBox<E>.value(in: $0)) }, onGap,
            maySuspend: maySuspend)
        MainQueue.prepare()
        state.withLock { $0.atOnce = body.mailbox }
        return body
    }
    func add<E: Event>(
        _ type: E.Type, _ route: DeliveryRoute, _ buffer: EventBuffer, _ handler: Handler<AnyEventBox>,
        _ onGap: Handler<Gap>, maySuspend: Bool = false
    ) -> BufferedSubscriber {
        let key = route.key
        let (mailbox, isNew) = state.withLock { $0.mailboxes.mailbox(key, route.place) }
        let subscriber = BufferedSubscriber(
            mailbox, buffer, drops, handler, onGap, keeping: route.keeps, while: nil, maySuspend: maySuspend
        ) {
            [weak self] in self?.remove($0, from: type, key, object: nil) ?? $0.leave()
        }
        change(type) { channel, _ in channel.add(subscriber) }
        if isNew { mailbox.start() }
        return subscriber
    }

    func addObject<E: Event>(
        _ weakly: WeakReference, _ object: AnyObject, _ type: E.Type, _ route: DeliveryRoute, _ buffer: EventBuffer,
        _ handler: Handler<AnyEventBox>, _ onGap: Handler<Gap>
    ) {
        let (id, eventID) = (ObjectIdentifier(object), ObjectIdentifier(type))
        sweep(before: id)
        let key = route.key
        let (mailbox, isNew) = state.withLock { $0.mailboxes.mailbox(key, route.place) }
        let subscriber = BufferedSubscriber(
            mailbox, buffer, drops, handler, onGap, keeping: route.keeps,
            while: { [weak self] in
                if weakly.object != nil { return true }
                self?.interest?.subscriberReleased(weakly)
                return false
            }, maySuspend: true
        ) { [weak self] in self?.remove($0, from: type, key, object: id) ?? $0.leave() }
        // Known and added in one step, so that of two threads one subscribes.
        var isKnown = false
        var replaced: PublisherState.Object?
        change(type) { channel, state in
            // Asked for under the lock, which is safe: alive, it is the caller's own object. Dead, another thread is
            // about to end its subscriptions.
            if let known = state.objects[id], known.reference.object == nil {
                replaced = state.objects.removeValue(forKey: id)
            }
            isKnown = state.objects[id]?.subscriptions[eventID] != nil
            if isKnown { return }
            state.objects[id, default: .init(reference: weakly)].subscriptions[eventID] = subscriber
            channel.add(subscriber)
        }
        withExtendedLifetime(replaced) {}
        if isNew { mailbox.start() }
        if isKnown { subscriber.cancel() }
    }
    /// Ends what is left of a dead object at this address, and, once in a while, of all dead ones.
    private func sweep(before id: ObjectIdentifier) {
        let suspects = state.withLock { state -> [PublisherState.Object] in
            guard state.objects.count >= state.objectsToSweep else { return state.objects[id].map { [$0] } ?? [] }
            return Array(state.objects.values)
        }
        for suspect in suspects where suspect.reference.object == nil {
            for body in suspect.subscriptions.values { body.cancel() }
        }
        if suspects.count > 1 { state.withLock { $0.objectsToSweep = max(16, 2 * $0.objects.count) } }
    }

    /// Whether that thread is within a handler of a closure that this calls: but for an immediate one.
    package func isHandling(on thread: UInt) -> Bool {
        state.withLock { $0.mailboxes.all }.contains { $0.handlerThread == thread }
    }
    /// Cancels the subscriptions of all closures and objects. Streams go on, and so does a later subscription.
    ///
    /// - Returns: their handlers, some of which may run still: but for immediate ones, and for an object's `on` or
    ///   `onGap`, which may wait for the caller.
    package func endHandlers() -> EndedHandlers {
        let (immediate, buffered) = state.withLock { state in
            let channels = state.channels.all
            return (
                channels.flatMap { Array($0.immediate) },
                channels.flatMap { $0.buffered.compactMap { $0 as? BufferedSubscriber } }
            )
        }
        for subscriber in immediate { subscriber.cancel() }
        for subscriber in buffered { subscriber.cancel() }
        return EndedHandlers(buffered.map(\.mailbox))
    }

    func add<I: EventInterface>(_ stream: StreamBuffer, to interface: I.Type) {
        let (id, types) = (ObjectIdentifier(interface), I.contract.events)
        let channels = state.withLock { state in
            for type in types { _ = state.channel(for: type) }
            let channels = state.channels.all.filter { $0.interface == id }
            for channel in channels { channel.add(stream) }
            state.interfaceStreams[id, default: []].append(stream)
            return channels
        }
        for channel in channels { reportInterest(in: channel) }
        guard let interest, let type = types.first, let gap = objection(interest, to: type) else { return }
        deliver(lasting: gap, isNew: false, in: I.self)
    }
    private func objection<E: Event>(_ interest: any InterestObserver, to type: E.Type) -> Gap? {
        interest.objection(to: type)
    }
    func remove(_ stream: StreamBuffer) {
        let channels = state.withLock { state in
            for (interface, streams) in state.interfaceStreams where streams.contains(where: { $0 === stream }) {
                let rest = streams.filter { $0 !== stream }
                state.interfaceStreams[interface] = rest.isEmpty ? nil : rest
            }
            return state.channels.all.filter { channel in
                let isHere = channel.buffered.contains { $0 === stream }
                if isHere { channel.remove(stream) }
                return isHere
            }
        }
        for channel in channels { reportInterest(in: channel) }
    }
    func remove<E: Event>(
        _ subscriber: BufferedSubscriber, from type: E.Type, _ key: MailboxTable.Key?,
        object: ObjectIdentifier?
    ) {
        var after = AfterUnlock()
        change(type) { channel, state in
            channel.remove(subscriber)
            state.mailboxes.leave(subscriber.mailbox, key, &after)
            guard let object, state.objects[object]?.subscriptions[ObjectIdentifier(type)] === subscriber else {
                return
            }
            state.objects[object]?.subscriptions[ObjectIdentifier(type)] = nil
            if state.objects[object]?.subscriptions.isEmpty == true {
                after.release(state.objects.removeValue(forKey: object)?.reference)
            }
        }
        after.run()
    }

    /// Changes the subscribers of a type, and notifies the interest observer if that makes a difference.
    func change<E: Event>(_ type: E.Type, _ body: (Channel, inout PublisherState) -> Void) {
        let (channel, isNews) = state.withLock { state in
            let channel = state.channel(for: type)
            body(channel, &state)
            return (channel, channel.reportedInterest != !channel.isUnused)
        }
        if isNews { reportInterest(in: channel) }
        // Those that came before have it.
        if let gap = interest?.objection(to: type) { deliver(lasting: gap, isNew: false, to: [type]) }
    }
    private func reportInterest(in channel: Channel) {
        guard let interest else { return }
        // Without the publisher's lock, because the observer's own locks may be held while it delivers. Looks again
        // under this one, so that the last report is right whatever thread comes last.
        interestOrder.withLock { _ in
            let news = state.withLock { _ -> Bool? in
                let isWanted = !channel.isUnused
                if channel.reportedInterest == isWanted { return nil }
                // While it is being notified, what it knows is unreliable: a thread that changes it meanwhile waits for
                // this lock.
                channel.reportedInterest = nil
                return isWanted
            }
            guard let news else { return }
            channel.report(interest, news)
            state.withLock { _ in channel.reportedInterest = news }
        }
    }
}
