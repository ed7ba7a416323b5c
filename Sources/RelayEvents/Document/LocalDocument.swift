import Synchronization

/// A state with views. Each view is called with the present state when it is added, then with each change.
///
/// ```swift
/// let document = LocalDocument(Inventory())
/// document.addView(key: "count") { [label] inventory in label.text = "\(inventory.boxes.count) boxes" }
/// document.addView(boxList, key: "list")  // An object, held weakly.
/// document.update { $0.boxes.append(box) }
/// document.removeView(key: "count")
/// ```
///
/// Code that changes the state need not know the views, which can be of any kind. A relay can keep a document in step
/// with a document of a service: `EventRelay.follow(_:into:onFailure:)`.
///
/// - Order: every view sees the states in the order in which they were set, and the latest one last. A state that is
///   equal to the present one is no change. Closures on one actor or queue see each state in the order in which the
///   closures were added; each object and each `.background` closure has its own order. An immediate view is called
///   before `set` returns, unless some thread is already calling immediate views: that thread then also makes the calls
///   for the new state. So if a view sets a state or adds a view, the effect shows after that view's call.
/// - Isolation: a closure runs on the actor that it is isolated to, otherwise where its delivery determines.
/// - Loss: a view that is more than 64 states behind sees only the newest ones. The latest state always arrives.
/// - Cancellation: ``removeView(key:)``, ``removeAllViews()``, the release of an object, or of the document. A view
///   that is removed on its own isolation is not called again, even if its own call or another view's call removes it.
///   If it is removed from elsewhere, a call that has begun may still be running.
public final class LocalDocument<State: Sendable & Equatable>: Sendable {
    private typealias Contents = DocumentContents<State>
    private typealias Box = Contents.Box
    private let contents: Mutex<Contents>
    /// Where to run closures that are not isolated to an actor.
    package let delivery: DeliveryTarget

    /// Creates a document.
    ///
    /// - Parameter state: the first state.
    /// - Parameter delivery: where to run closures that are not isolated to an actor.
    public init(_ state: State, delivery: DeliveryTarget = .background) {
        contents = Mutex(Contents(state))
        self.delivery = delivery
    }
    deinit {
        var after = AfterUnlock()
        contents.withLock { contents in
            for view in contents.views { view.subscriber?.end(&after) }
            for mailbox in contents.mailboxes.all { mailbox.close(&after) }
        }
        after.run()
    }

    // MARK: The state

    /// The present state.
    public var state: State { contents.withLock { $0.present }.value.state }

    /// Replaces the state. The views are called unless the new state is equal to the present one.
    ///
    /// - Isolation: from any thread, also within a view.
    ///
    /// - Parameter state: the new state.
    public func set(_ state: State) { update { $0 = state } }
    /// Changes the state in one step. The views are called unless the result is equal to the present state.
    ///
    /// - Isolation: from any thread, also within a view.
    /// - Parameter change: changes the state, and should do nothing else, because it is called again if the state was
    ///   set meanwhile.
    /// - Returns: what the last call of `change` returned.
    /// - Throws: what `change` throws. The state is then unchanged.
    public func update<Result, Failure>(_ change: (inout State) throws(Failure) -> Result) throws(Failure) -> Result {
        while true {
            let (present, revision) = contents.withLock { ($0.present, $0.revision) }
            var state = present.value.state
            let result = try change(&state)
            // Compared without the lock: it is anybody's code.
            if state == present.value.state || replace(revision, Box(ShownState(state: state))) { return result }
        }
    }
    /// False: there is another state by now.
    private func replace(_ revision: UInt64, _ box: Box) -> Bool {
        var after = AfterUnlock()
        let (isReplaced, makesCalls) = contents.withLock { contents in
            guard contents.revision == revision else { return (false, false) }
            return (true, contents.replace(box, &after))
        }
        after.run()
        if makesCalls { callViews() }
        return isReplaced
    }
    /// Calls the immediate views until nothing is due.
    private func callViews() {
        while let (show, box) = contents.withLock({ $0.nextCall() }) { show(box.value.state) }
    }
    /// Whether all views have been called with the present state, and have returned. What pollable targets hold does
    /// not count.
    package var isIdle: Bool {
        let (isCalling, mailboxes) = contents.withLock { ($0.isCalling, $0.mailboxes.all) }
        return !isCalling && mailboxes.allSatisfy(\.isIdle)
    }

    // MARK: Closures

    /// Adds a closure as a view. It is called with the present state, then with each change.
    ///
    /// - Isolation: on the actor that the closure is isolated to, otherwise where the document's delivery
    ///   determines.
    /// - Cancellation: ``removeView(key:)``. The document holds the closure and what it captures until then.
    /// - Parameter key: names the view. A view that has this key is replaced.
    /// - Parameter show: is called with each state.
    public func addView(
        key: some Hashable & Sendable,
        @_inheritActorContext _ show: @escaping @isolated(any) @Sendable (State) -> Void
    ) {
        if let actor = show.isolation {
            return addBuffered(
                AnyKey(key), .closures(on: actor), onActor(show) { EventBox<ShownState<State>>.value(in: $0).state })
        }
        addView(key: key, delivery: delivery, unisolated(show))
    }
    /// Adds a closure as a view, on a delivery target. It is called with the present state, then with each change.
    ///
    /// - Cancellation: ``removeView(key:)``. The document holds the closure and what it captures until then.
    /// - Parameter key: names the view. A view that has this key is replaced.
    /// - Parameter delivery: where the closure runs.
    /// - Parameter show: is called with each state.
    public func addView(
        key: some Hashable & Sendable, delivery: DeliveryTarget, _ show: @escaping @Sendable (State) -> Void
    ) {
        if case .immediate = delivery.kind { return addImmediate(AnyKey(key), show) }
        addBuffered(
            AnyKey(key), .closures(delivery), .sync { show(EventBox<ShownState<State>>.value(in: $0).state) })
    }

    // MARK: Objects

    /// Adds an object as a view, held weakly, on the actor that this is called on. An actor is called on itself.
    ///
    /// - Cancellation: ``removeView(key:)``, or the object's release.
    /// - Parameter view: the object.
    /// - Parameter key: names the view. A view that has this key is replaced.
    /// - Parameter isolation: the actor; the caller's unless given.
    public func addView<V: DocumentView>(
        _ view: V, key: some Hashable & Sendable, isolation: isolated any Actor = #isolation
    ) where V.State == State {
        let weakly: WeakReceiver<State> = WeakView(view)
        addBuffered(
            AnyKey(key), .object(view, on: (view as? any Actor) ?? isolation), Self.handler(of: weakly), weakly)
    }
    /// Adds a sendable object as a view, held weakly, on a delivery target. An actor is called on itself.
    ///
    /// Because `show(_:)` may await, ``DeliveryTarget/immediate`` means ``DeliveryTarget/background`` here.
    ///
    /// - Cancellation: ``removeView(key:)``, or the object's release.
    /// - Parameter view: the object.
    /// - Parameter key: names the view. A view that has this key is replaced.
    /// - Parameter delivery: where it is called.
    public func addView<V: DocumentView & Sendable>(
        _ view: V, key: some Hashable & Sendable, delivery: DeliveryTarget
    ) where V.State == State {
        let weakly: WeakReceiver<State> = WeakView(view)
        addBuffered(AnyKey(key), .object(view, delivery), Self.handler(of: weakly), weakly)
    }

    private static func handler(of view: WeakReceiver<State>) -> Handler<AnyEventBox> {
        .async { _ = await view.deliver(EventBox<ShownState<State>>.value(in: $0).state) }
    }

    // MARK: Removing

    /// Removes a view, which is not called again. If no view has this key, nothing happens.
    ///
    /// - Parameter key: the view's name.
    public func removeView(key: some Hashable & Sendable) {
        let key = AnyKey(key)
        remove { $0.key == key }
    }
    /// Removes all views. None is called again.
    public func removeAllViews() { remove { _ in true } }

    private func remove(_ isMeant: (Contents.View) -> Bool) {
        var after = AfterUnlock()
        let removed = contents.withLock { $0.remove(&after, isMeant) }
        after.run()
        for view in removed { view.subscriber?.cancel() }
    }

    /// For tests.
    var viewCount: Int { contents.withLock { $0.views.count } }

    // MARK: Adding

    private func addImmediate(_ key: AnyKey, _ show: @escaping @Sendable (State) -> Void) {
        var after = AfterUnlock()
        let (replaced, makesCalls) = contents.withLock { contents in
            let replaced = contents.remove(&after) { $0.key == key }
            return (replaced, contents.add(key, show))
        }
        after.run()
        for view in replaced { view.subscriber?.cancel() }
        if makesCalls { callViews() }
    }
    private func addBuffered(
        _ key: AnyKey, _ route: DeliveryRoute, _ handler: Handler<AnyEventBox>, _ reference: WeakReference? = nil
    ) {
        sweep()
        let mailboxKey = route.key
        var isAlive: (@Sendable () -> Bool)?
        if let reference { isAlive = { reference.object != nil } }
        let (mailbox, isNew) = contents.withLock { $0.mailboxes.mailbox(mailboxKey, route.place) }
        let subscriber = BufferedSubscriber(
            mailbox, .bufferingNewest(DocumentLimits.statesBehind), DropCounts(), handler, .sync { _ in },
            keeping: route.keeps, while: isAlive, maySuspend: true
        ) { [weak self] in self?.forget($0, mailboxKey) ?? $0.leave() }
        var after = AfterUnlock()
        let replaced = contents.withLock { contents in
            let replaced = contents.remove(&after) { $0.key == key }
            contents.add(key, subscriber, reference, &after)
            return replaced
        }
        // Before the new one is called.
        for view in replaced { view.subscriber?.cancel() }
        after.run()
        if isNew { mailbox.start() }
    }
    /// A view was cancelled, or its object is gone.
    private func forget(_ subscriber: BufferedSubscriber, _ key: MailboxTable.Key?) {
        var after = AfterUnlock()
        let gone = contents.withLock { contents in
            contents.mailboxes.leave(subscriber.mailbox, key, &after)
            return contents.remove(&after) { $0.subscriber === subscriber }
        }
        after.run()
        withExtendedLifetime(gone) {}
    }
    /// Removes views whose object is gone, once in a while.
    private func sweep() {
        let suspects = contents.withLock { $0.views.count >= $0.viewsToSweep ? $0.views : [] }
        if suspects.isEmpty { return }
        for view in suspects where view.isDead { view.subscriber?.cancel() }
        contents.withLock { $0.viewsToSweep = max(16, 2 * $0.views.count) }
    }
}
