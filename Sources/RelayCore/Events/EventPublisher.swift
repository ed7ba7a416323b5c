import Synchronization

/// Typed publish and subscribe within a process. Make as many as there are subsystems, and inject them.
///
/// - Order: deliveries to one actor or queue come in the order of `publish`, across event types.
/// - Isolation: a handler runs on the actor that it is written on; any other where its delivery says.
/// - Loss: buffers are bounded; what overflows is a `Gap` in its place, counted.
/// - Cancellation: `Subscription.cancel()`, or its release.
public final class EventPublisher: Sendable, EventSink {
    private struct State {
        var channels = ChannelTable()
        var sequence: UInt64 = 0
        var shared: [ObjectIdentifier: Mailbox] = [:]
        var objects: [ObjectKey: AnyObjectSubscription] = [:]
        var taps: ContiguousArray<AnyTap> = []
    }
    private let state = Mutex(State())
    private let epoch = Timestamp.now.microseconds
    private let interest: (any InterestObserver)?
    /// Where handlers run that are not isolated to an actor of their own.
    public let delivery: DeliveryTarget

    /// A publisher with a default delivery: `.mainActor` for a user interface, `.immediate` for a tight inner circle.
    public init(delivery: DeliveryTarget = .background) { (self.delivery, interest) = (delivery, nil) }
    package init(delivery: DeliveryTarget, interest: any InterestObserver) {
        (self.delivery, self.interest) = (delivery, interest)
    }

    deinit {
        state.withLock { state in
            for channel in state.channels.all { for delivery in channel.buffered { delivery.end() } }
            for tap in state.taps { tap.end() }
        }
    }

    /// Gives the event to every subscriber of its type. From any thread; never waits for a buffered subscriber.
    @inlinable public func publish<E: Event>(_ event: E) {
        let hasTaps = withUnsafePointer(to: event) { deliver(UnsafeRawPointer($0), ObjectIdentifier(E.self), nil) }
        if hasTaps { deliverToTaps(event, nil) }
    }

    /// Calls `handler` with each event of a type: on the actor it is written on, else where the publisher's delivery says.
    public func subscribe<E: Event>(
        to type: E.Type = E.self, buffer: EventBuffer = .standard,
        @_inheritActorContext _ handler: @escaping @isolated(any) @Sendable (E) -> Void,
        @_inheritActorContext onGap: (@isolated(any) @Sendable (Gap) -> Void)? = nil
    ) -> Subscription {
        let onGap: Handler<Gap>? = onGap.map { handler in .async { await handler($0) } }
        if let actor = handler.isolation {
            let mailbox = sharedMailbox(.actor(actor), ObjectIdentifier(actor))
            return Subscription(
                add(E.self, mailbox, buffer, .async { await handler(EventBox<E>.value(in: $0)) }, onGap))
        }
        // No isolation: it may be called from anywhere, which is what the plain type says.
        let plain = unsafeBitCast(handler, to: (@Sendable (E) -> Void).self)
        return subscribe(E.self, delivery, buffer, .sync { plain(EventBox<E>.value(in: $0)) }, onGap) {
            plain($0.assumingMemoryBound(to: E.self).pointee)
        }
    }

    /// Calls `handler` where `delivery` says: `.immediate`, `.queue(_:)`, `.pollable(_:)`, `.background`.
    @inlinable public func subscribe<E: Event>(
        to type: E.Type = E.self, delivery: DeliveryTarget, buffer: EventBuffer = .standard,
        _ handler: @escaping @Sendable (E) -> Void, onGap: (@Sendable (Gap) -> Void)? = nil
    ) -> Subscription {
        // Here and not below, so that it is specialised for E in the caller's module.
        subscribe(delivery, buffer, handler, onGap) { handler($0.assumingMemoryBound(to: E.self).pointee) }
    }

    /// The events of a type from this moment on, as a sequence.
    public func events<E: Event>(of type: E.Type = E.self, buffer: EventBuffer = .standard) -> EventStream<E> {
        let stream = StreamBuffer(buffer) { [weak self] in self?.remove($0, from: E.self) }
        change(E.self) { channel, _ in
            channel.buffered.append(stream)
            channel.showsStamps = true
        }
        return EventStream(stream) { EventBox<E>.value(in: $0) }
    }

    /// The events of a whole interface from this moment on, in their one order.
    public func events<I: EventInterface>(in interface: I.Type, buffer: EventBuffer = .standard) -> EventStream<
        any DomainEvent
    > {
        let stream = StreamBuffer(buffer) { [weak self] in self?.remove($0) }
        state.withLock { $0.taps.append(InterfaceTap<I>(stream)) }
        return EventStream(stream) { $0.event as! any DomainEvent }
    }

    /// Sees every event at once, on the publishing thread. For recorders and diagnostics.
    public func tap(_ handler: @escaping @Sendable (any Event) -> Void) -> Subscription {
        let tap = ClosureTap(self, handler)
        state.withLock { $0.taps.append(tap) }
        return Subscription(tap)
    }

    /// Subscribes an object, held weakly, to its type of event, on the actor that this is called on. Twice is once.
    public func subscribe<S: EventSubscriber>(
        _ subscriber: S, buffer: EventBuffer = .standard, isolation: isolated any Actor = #isolation
    ) {
        let weakly: WeakReference = WeakSubscriber(subscriber)
        addObject(
            subscriber, (subscriber as? any Actor) ?? isolation, S.Subscribed.self, buffer,
            .async { await weakly.deliver($0) })
    }

    /// Subscribes a sendable object from code that is on no actor.
    public func subscribe<S: EventSubscriber & Sendable>(
        _ subscriber: S, delivery: DeliveryTarget, buffer: EventBuffer = .standard
    ) {
        let weakly: WeakReference = WeakSubscriber(subscriber)
        addObject(subscriber, subscriber as? any Actor, S.Subscribed.self, buffer, .async { await weakly.deliver($0) })
    }

    /// Subscribes an object, held weakly, to one more type of event, with a handler on the actor it is written on.
    public func subscribe<S: AnyObject & Sendable, E: Event>(
        _ subscriber: S, to type: E.Type = E.self, buffer: EventBuffer = .standard,
        @_inheritActorContext _ handler: @escaping @isolated(any) @Sendable (S, E) -> Void
    ) {
        addObject(
            subscriber, handler.isolation, type, buffer,
            .async { [weak subscriber] in if let subscriber { await handler(subscriber, EventBox<E>.value(in: $0)) } })
    }

    /// Subscribes an actor, held weakly, to one more type of event, with a handler isolated to it.
    public func subscribe<S: Actor, E: Event>(
        _ subscriber: S, to type: E.Type = E.self, buffer: EventBuffer = .standard,
        _ handler: @escaping @Sendable (isolated S, E) -> Void
    ) {
        addObject(
            subscriber, subscriber, type, buffer,
            .async { [weak subscriber] in if let subscriber { await handler(subscriber, EventBox<E>.value(in: $0)) } })
    }

    /// Ends every subscription of an object. Its release does so too.
    public func unsubscribe(_ subscriber: AnyObject) {
        let id = ObjectIdentifier(subscriber)
        let ended = state.withLock { state in state.objects.filter { $0.key.object == id }.map(\.value) }
        for subscription in ended { subscription.body.cancel() }
    }
}

/// Told by a publisher when it gets the first, and loses the last, subscriber to a type. The relay is one.
package protocol InterestObserver: AnyObject, Sendable {
    func interestBegan<E: Event>(in type: E.Type)
    func interestEnded<E: Event>(in type: E.Type)
}

// MARK: - Delivery

extension EventPublisher {
    /// What `publish` and the relay share: the relay brings the stamp of the wire.
    package func deliver<E: Event>(_ event: E, stamp: Stamp?) {
        let taps = withUnsafePointer(to: event) { deliver(UnsafeRawPointer($0), ObjectIdentifier(E.self), stamp) }
        if taps { deliverToTaps(event, stamp) }
    }
    /// Returns whether there are taps.
    @usableFromInline func deliver(_ event: UnsafeRawPointer, _ type: ObjectIdentifier, _ given: Stamp?) -> Bool {
        nonisolated(unsafe) let event = event  // Valid, and only read, until this returns.
        var wakeups: Wakeups?
        let (immediate, hasTaps) = state.withLock { state -> (ContiguousArray<ImmediateSubscriber>?, Bool) in
            state.sequence &+= 1
            guard let channel = state.channels.channel(for: type) else { return (nil, !state.taps.isEmpty) }
            let sequence = given?.sequence ?? state.sequence
            if !channel.buffered.isEmpty { wakeups = offer(event, to: channel, given, sequence) }
            channel.previous = sequence
            return (channel.immediate, !state.taps.isEmpty)
        }
        if let wakeups { wakeups.run() }
        if let immediate { for subscriber in immediate where subscriber.isActive { subscriber.call(event) } }
        return hasTaps
    }
    @inline(never) private func offer(
        _ event: UnsafeRawPointer, to channel: Channel, _ given: Stamp?, _ sequence: UInt64
    ) -> Wakeups {
        // The clock is read only for those who can see it.
        let time = given == nil && channel.showsStamps ? Timestamp.now : Timestamp(microseconds: 0)
        let stamp = given ?? Stamp(epoch: epoch, sequence: sequence, previous: channel.previous, publishedAt: time)
        var wakeups = Wakeups()
        let box = channel.box(event)
        for delivery in channel.buffered { wakeups.add(delivery.offer(box, stamp)) }
        return wakeups
    }
    @inline(never) @usableFromInline func deliverToTaps<E: Event>(_ event: E, _ given: Stamp?) {
        let taps = state.withLock { state in
            let stamp = given ?? Stamp(epoch: epoch, sequence: state.sequence, previous: 0, publishedAt: .now)
            let box = EventBox(event)
            for tap in state.taps { tap.offerInOrder(event, box, stamp) }
            return state.taps
        }
        for tap in taps { tap.call(event) }
    }

    package func deliver<E: Event>(_ gap: Gap, to type: E.Type) {
        var wakeups = Wakeups()
        state.withLock { state in
            guard let channel = state.channels.channel(for: ObjectIdentifier(type)) else { return }
            for delivery in channel.buffered { wakeups.add(delivery.offer(gap)) }
        }
        wakeups.run()
    }
}

// MARK: - Subscribing

extension EventPublisher {
    @usableFromInline func subscribe<E: Event>(
        _ target: DeliveryTarget, _ buffer: EventBuffer, _ handler: @escaping @Sendable (E) -> Void,
        _ onGap: (@Sendable (Gap) -> Void)?, _ immediate: @escaping @Sendable (UnsafeRawPointer) -> Void
    ) -> Subscription {
        subscribe(
            E.self, target, buffer, .sync { handler(EventBox<E>.value(in: $0)) }, onGap.map { .sync($0) }, immediate)
    }
    private func subscribe<E: Event>(
        _ type: E.Type, _ target: DeliveryTarget, _ buffer: EventBuffer, _ handler: Handler<AnyEventBox>,
        _ onGap: Handler<Gap>?,
        _ immediate: @escaping @Sendable (UnsafeRawPointer) -> Void
    ) -> Subscription {
        let mailbox: Mailbox
        switch target.kind {
        case .immediate:
            let subscriber = ImmediateSubscriber(immediate) { [weak self] subscriber in
                self?.change(E.self) { channel, _ in channel.immediate.removeAll { $0 === subscriber } }
            }
            change(E.self) { channel, _ in channel.immediate.append(subscriber) }
            return Subscription(subscriber)
        case .background: mailbox = privateMailbox(.pool)
        case .actor(let actor): mailbox = sharedMailbox(.actor(actor), ObjectIdentifier(actor))
        case .queue(let queue): mailbox = sharedMailbox(.queue(queue), ObjectIdentifier(queue))
        case .pollable(let target): mailbox = sharedMailbox(.pollable(target), ObjectIdentifier(target))
        }
        return Subscription(add(type, mailbox, buffer, handler, onGap))
    }
    private func add<E: Event>(
        _ type: E.Type, _ mailbox: Mailbox, _ buffer: EventBuffer, _ handler: Handler<AnyEventBox>,
        _ onGap: Handler<Gap>?
    ) -> BufferedSubscriber {
        let subscriber = BufferedSubscriber(mailbox, buffer, handler, onGap) { [weak self] in
            self?.remove($0, from: type)
        }
        change(type) { channel, _ in channel.buffered.append(subscriber) }
        return subscriber
    }
    private func privateMailbox(_ place: Mailbox.Place) -> Mailbox {
        let mailbox = Mailbox(place)
        mailbox.addUser()
        mailbox.start()
        return mailbox
    }
    private func sharedMailbox(_ place: Mailbox.Place, _ key: ObjectIdentifier) -> Mailbox {
        let (mailbox, isNew) = state.withLock { state in
            if let mailbox = state.shared[key] {
                mailbox.addUser()
                return (mailbox, false)
            }
            let mailbox = Mailbox(place)
            mailbox.addUser()
            state.shared[key] = mailbox
            return (mailbox, true)
        }
        if isNew { mailbox.start() }
        return mailbox
    }
    private func release(_ mailbox: Mailbox) {
        state.withLock { state in
            guard mailbox.removeUser() else { return }
            if let key = state.shared.first(where: { $0.value === mailbox })?.key { state.shared[key] = nil }
        }
    }
    private func change<E: Event>(_ type: E.Type, _ body: (Channel, inout State) -> Void) {
        let (wasUnused, isUnused) = state.withLock { state in
            let id = ObjectIdentifier(type)
            let channel = state.channels.channel(for: id) ?? Channel(type)
            if channel.isUnused && state.channels.channel(for: id) == nil { state.channels.insert(channel, for: id) }
            let wasUnused = channel.isUnused
            body(channel, &state)
            return (wasUnused, channel.isUnused)
        }
        if wasUnused && !isUnused { interest?.interestBegan(in: type) }
        if !wasUnused && isUnused { interest?.interestEnded(in: type) }
    }
    func remove<E: Event>(_ subscriber: BufferedSubscriber, from type: E.Type) {
        change(type) { channel, state in
            channel.buffered.removeAll { $0 === subscriber }
            if let key = state.objects.first(where: { $0.value.body === subscriber })?.key { state.objects[key] = nil }
        }
        release(subscriber.mailbox)
    }
    func remove<E: Event>(_ stream: StreamBuffer, from type: E.Type) {
        change(type) { channel, _ in
            channel.buffered.removeAll { $0 === stream }
            channel.showsStamps = channel.buffered.contains { $0.showsStamps }
        }
    }
    func remove(_ body: AnyObject) { state.withLock { state in state.taps.removeAll { $0.body === body } } }
}

// MARK: - Objects

private struct ObjectKey: Hashable {
    let object: ObjectIdentifier
    let event: ObjectIdentifier
}
private struct AnyObjectSubscription {
    let body: any SubscriptionBody
    let isAlive: @Sendable () -> Bool
}

extension EventPublisher {
    private func addObject<E: Event>(
        _ subscriber: AnyObject, _ actor: (any Actor)?, _ type: E.Type, _ buffer: EventBuffer,
        _ handler: Handler<AnyEventBox>
    ) {
        let key = ObjectKey(object: ObjectIdentifier(subscriber), event: ObjectIdentifier(type))
        // Objects that died since the last subscription leave here, so that nothing gathers.
        let (dead, isKnown) = state.withLock { state in
            let dead = state.objects.filter { !$0.value.isAlive() }
            for key in dead.keys { state.objects[key] = nil }
            return (dead.values.map(\.body), state.objects[key] != nil)
        }
        for body in dead { body.cancel() }
        if isKnown { return }
        let reference = WeakReference(subscriber)
        let place: Mailbox.Place = actor.map { .actor($0) } ?? .pool
        let mailbox = sharedMailbox(place, ObjectIdentifier(subscriber))
        let body = add(type, mailbox, buffer, handler, nil)
        state.withLock { state in
            state.objects[key] = AnyObjectSubscription(body: body, isAlive: { reference.object != nil })
        }
    }
}

// MARK: - Taps

class AnyTap: @unchecked Sendable {
    var body: AnyObject { self }
    /// Under the publisher's lock.
    func offerInOrder<E: Event>(_ event: E, _ box: AnyEventBox, _ stamp: Stamp) {}
    /// On the publishing thread, without it.
    func call(_ event: any Event) {}
    func end() {}
}
private final class InterfaceTap<I: EventInterface>: AnyTap, @unchecked Sendable {
    private let stream: StreamBuffer
    init(_ stream: StreamBuffer) { self.stream = stream }
    override var body: AnyObject { stream }
    override func offerInOrder<E: Event>(_ event: E, _ box: AnyEventBox, _ stamp: Stamp) {
        guard let event = event as? any DomainEvent, interface(of: event) == I.self else { return }
        stream.offer(box, stamp)?.run()
    }
    override func end() { stream.end(keepingBuffered: true) }
    private func interface<E: DomainEvent>(of event: E) -> any EventInterface.Type { E.Interface.self }
}
private final class ClosureTap: AnyTap, SubscriptionBody, @unchecked Sendable {
    private let handler: @Sendable (any Event) -> Void
    private weak let publisher: EventPublisher?
    init(_ publisher: EventPublisher, _ handler: @escaping @Sendable (any Event) -> Void) {
        (self.publisher, self.handler) = (publisher, handler)
    }
    override func call(_ event: any Event) { handler(event) }
    func cancel() { publisher?.remove(self) }
    var isActive: Bool { true }
    var missed: Int { 0 }
}
