import Synchronization

/// Lists that are kept in step.
extension EventRelay {
    /// Keeps a list in step with a service: calls `show` with all rows, then with each change.
    ///
    /// ```swift
    /// let list = try relay.follow(Orders1.self, pages: ListOrders(), rows: \.orders, by: \.orderID) { event, rows in
    ///     switch event {
    ///     case .placed(let order): rows[id: order.orderID] = Order(order)
    ///     case .shipped(let order): rows[id: order.orderID]?.isShipped = true
    ///     }
    /// } show: { [weak self] list in
    ///     for change in list.changes { self?.table.apply(change) }
    /// } onFailure: { [weak self] error in
    ///     self?.trouble = error.message
    /// }
    /// ```
    ///
    /// The list may have any number of pages, in the order of their ids. They are of different moments: an event changes a
    /// row only if it is later than the page that covers its id.
    ///
    /// - Order: all rows, then the changes in the order of the interface's events. After a gap, or when a new run of the
    ///   service begins, the pages are read again, and `show` gets what is different.
    /// - Isolation: `show` and `onFailure` on the actor that `show` is isolated to, otherwise where the publisher's delivery
    ///   determines. `change` runs there, too.
    /// - Loss: none: what was missed is in the pages that are read again. While the service is away, the last rows remain
    ///   valid; ``states`` reports the absence.
    /// - Cancellation: by the subscription, which must be kept, and by the relay's end.
    /// - Parameter interface: the interface.
    /// - Parameter query: the command that requests the first page.
    /// - Parameter rows: the rows of a page, by rising id.
    /// - Parameter id: what identifies a row. A page covers the ids up to its last row's, the last page all others.
    /// - Parameter change: what an event does to the rows.
    /// - Parameter show: is called with each update.
    /// - Parameter onFailure: is called when a query fails, once for consecutive failures with the same code. As long as
    ///   the subscription lives, the relay retries after two seconds at most.
    /// - Returns: the subscription, which ends when it is released.
    /// - Throws: `.notFound` for an interface that the relay was not made for.
    public func follow<
        I: EnumInterface, Query: PagedQuery<I>, Row: Equatable & Sendable, ID: Hashable & Comparable & Sendable
    >(
        _ interface: I.Type, pages query: Query, rows: @escaping @Sendable (Query.Reply) -> [Row],
        by id: any KeyPath<Row, ID> & Sendable,
        applying change: @escaping @Sendable (I, inout FollowedRows<ID, Row>) -> Void,
        @_inheritActorContext show: @escaping @isolated(any) @Sendable (ListUpdate<ID, Row>) -> Void,
        @_inheritActorContext onFailure: @escaping @isolated(any) @Sendable (RelayError) -> Void
    ) throws -> Subscription where I.Durability == Durable {
        let list = FollowedList<I, Query.Reply, ID, Row>(rows, id, change)
        let (route, maySuspend) = route(of: [show.isolation, onFailure.isolation])
        return Subscription(
            try followList(
                query, list, route, onActor(show) { $0 }, onActor(onFailure) { $0 }, maySuspend: maySuspend))
    }
    /// Keeps a list in step with a service, for an object that is held weakly: the list ends with it.
    ///
    /// ```swift
    /// try relay.follow(orderList, Orders1.self, pages: ListOrders(), rows: \.orders, by: \.orderID) { event, rows in
    ///     if case .placed(let order) = event { rows[id: order.orderID] = Order(order) }
    /// } show: { window, list in
    ///     for change in list.changes { window.table.apply(change) }
    /// } onFailure: { window, error in
    ///     window.trouble = error.message
    /// }
    /// ```
    ///
    /// In all other respects it works like the method without an object.
    ///
    /// - Cancellation: ``unsubscribe(_:)``, the object's release, or the relay's end.
    /// - Parameter subscriber: the object.
    /// - Parameter interface: the interface.
    /// - Parameter query: the command that requests the first page.
    /// - Parameter rows: the rows of a page, by rising id.
    /// - Parameter id: what identifies a row.
    /// - Parameter change: what an event does to the rows.
    /// - Parameter show: is called with the object and each update.
    /// - Parameter onFailure: is called with the object and what failed.
    /// - Throws: `.conflict` if the object already has a list of these rows. `.notFound` for an interface that the relay was
    ///   not made for.
    public func follow<
        S: AnyObject & Sendable, I: EnumInterface, Query: PagedQuery<I>, Row: Equatable & Sendable,
        ID: Hashable & Comparable & Sendable
    >(
        _ subscriber: S, _ interface: I.Type, pages query: Query, rows: @escaping @Sendable (Query.Reply) -> [Row],
        by id: any KeyPath<Row, ID> & Sendable,
        applying change: @escaping @Sendable (I, inout FollowedRows<ID, Row>) -> Void,
        @_inheritActorContext show: @escaping @isolated(any) @Sendable (S, ListUpdate<ID, Row>) -> Void,
        @_inheritActorContext onFailure: @escaping @isolated(any) @Sendable (S, RelayError) -> Void
    ) throws where I.Durability == Durable {
        let actor = show.isolation ?? onFailure.isolation
        let (weakly, ending) = (Weakly(subscriber), Ending())
        try followList(
            for: subscriber, query, FollowedList<I, Query.Reply, ID, Row>(rows, id, change),
            actor.map { .task(on: $0) } ?? .task(publisher.delivery),
            ending, .async { if let object = weakly.object { await show(object, $0) } else { ending.end() } },
            .async { if let object = weakly.object { await onFailure(object, $0) } else { ending.end() } })
    }
    /// Keeps a list in step with a service, for an actor that is held weakly, on itself: the list ends with it.
    ///
    /// In all other respects it works like the method without an object.
    ///
    /// - Cancellation: ``unsubscribe(_:)``, the actor's release, or the relay's end.
    /// - Parameter subscriber: the actor.
    /// - Parameter interface: the interface.
    /// - Parameter query: the command that requests the first page.
    /// - Parameter rows: the rows of a page, by rising id.
    /// - Parameter id: what identifies a row.
    /// - Parameter change: what an event does to the rows.
    /// - Parameter show: is called with the actor and each update.
    /// - Parameter onFailure: is called with the actor and what failed.
    /// - Throws: as the method for an object.
    public func follow<
        S: Actor, I: EnumInterface, Query: PagedQuery<I>, Row: Equatable & Sendable,
        ID: Hashable & Comparable & Sendable
    >(
        _ subscriber: S, _ interface: I.Type, pages query: Query, rows: @escaping @Sendable (Query.Reply) -> [Row],
        by id: any KeyPath<Row, ID> & Sendable,
        applying change: @escaping @Sendable (I, inout FollowedRows<ID, Row>) -> Void,
        show: @escaping @Sendable (isolated S, ListUpdate<ID, Row>) -> Void,
        onFailure: @escaping @Sendable (isolated S, RelayError) -> Void
    ) throws where I.Durability == Durable {
        let (weakly, ending) = (Weakly(subscriber), Ending())
        try followList(
            for: subscriber, query, FollowedList<I, Query.Reply, ID, Row>(rows, id, change), .task(on: subscriber),
            ending, .async { if let object = weakly.object { await show(object, $0) } else { ending.end() } },
            .async { if let object = weakly.object { await onFailure(object, $0) } else { ending.end() } })
    }
    /// - Parameter ending: what the handlers do when the object is gone.
    private func followList<I: EnumInterface, Query: PagedQuery<I>, ID, Row>(
        for subscriber: AnyObject, _ query: Query, _ list: FollowedList<I, Query.Reply, ID, Row>,
        _ route: DeliveryRoute, _ ending: Ending, _ show: Handler<ListUpdate<ID, Row>>, _ onFailure: Handler<RelayError>
    ) throws where I.Durability == Durable {
        let object = WeakReference(subscriber)
        let body = try followList(query, list, route, show, onFailure, maySuspend: true)
        ending.set(body)
        do throws(RelayError) { try objects.add(body, of: object, to: FollowedRows<ID, Row>.self) } catch {
            body.cancel()
            throw error
        }
    }
    private func followList<I: EnumInterface, Query: PagedQuery<I>, ID, Row>(
        _ query: Query, _ list: FollowedList<I, Query.Reply, ID, Row>, _ route: DeliveryRoute,
        _ show: Handler<ListUpdate<ID, Row>>, _ onFailure: Handler<RelayError>, maySuspend: Bool
    ) throws -> any SubscriptionBody where I.Durability == Durable {
        let (onState, onEvent): (Handler<[Query.Reply]>, Handler<(I, Stamp)>) =
            switch show {
            case .sync(let body):
                (
                    .sync { body(list.begin($0)) },
                    .sync { if let update = list.apply($0.0, $0.1) { body(update) } }
                )
            case .async(let body):
                (
                    .async { await body(list.begin($0)) },
                    .async { if let update = list.apply($0.0, $0.1) { await body(update) } }
                )
            }
        return try follow(.standard, route, onState, onEvent, onFailure, maySuspend: maySuspend) { relay in
            try await relay.pages(of: query)
        }
    }
}

/// A list that is followed: its rows, and how they change. Used where its handlers are called.
private final class FollowedList<
    I: EnumInterface, Page: SnapshotReply, ID: Hashable & Comparable & Sendable, Row: Equatable & Sendable
>: Sendable {
    private let rows = Mutex(FollowedRows<ID, Row>())
    private let read: @Sendable (Page) -> [Row]
    private let id: any KeyPath<Row, ID> & Sendable
    private let change: @Sendable (I, inout FollowedRows<ID, Row>) -> Void

    init(
        _ read: @escaping @Sendable (Page) -> [Row], _ id: any KeyPath<Row, ID> & Sendable,
        _ change: @escaping @Sendable (I, inout FollowedRows<ID, Row>) -> Void
    ) { (self.read, self.id, self.change) = (read, id, change) }

    func begin(_ pages: [Page]) -> ListUpdate<ID, Row> {
        let next = FollowedRows(pages.map { (read($0), $0.sequence) }, by: id)
        return rows.withLock { rows in
            let changes = next.changes(from: rows)
            rows = next
            return ListUpdate(rows: rows, changes: changes)
        }
    }
    /// nil: nothing has changed.
    func apply(_ event: I, _ stamp: Stamp) -> ListUpdate<ID, Row>? {
        rows.withLock { rows in
            let changes = rows.apply(at: stamp.sequence) { change(event, &$0) }
            return changes.isEmpty ? nil : ListUpdate(rows: rows, changes: changes)
        }
    }
}

/// Ends a subscription whose object is gone.
private final class Ending: Sendable {
    private let body = Mutex<WeakReference?>(nil)
    func set(_ body: any SubscriptionBody) { self.body.withLock { $0 = WeakReference(body) } }
    func end() { (body.withLock { $0 }?.object as? any SubscriptionBody)?.cancel() }
}
