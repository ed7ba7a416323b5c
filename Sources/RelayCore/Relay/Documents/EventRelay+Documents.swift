import Synchronization

/// A service's documents, followed.
extension EventRelay {
    /// The present state of a document, then each later state, as a sequence.
    ///
    /// ```swift
    /// for try await present in try relay.snapshots(of: Inventory.self) { print(present.state.boxes.count) }
    /// ```
    ///
    /// The sequence begins when it is created.
    ///
    /// - Order: versions ascend. Consecutive states differ.
    /// - Isolation: from any task. Use one consumer: two loops would divide the states between them.
    /// - Loss: a slow consumer loses no state of a durable interface. If states are missing, the relay reads the
    ///   present state and yields it next. While the service is away, the last state remains valid.
    /// - Cancellation: the sequence ends when its last copy and iterator are released, or when its relay ends. In a
    ///   cancelled task `next()` returns nil.
    /// - Parameter document: the document.
    /// - Returns: the sequence. It throws what no retry can fix: `.schemaMismatch` for a document of another version,
    ///   `.notFound`, `.notPermitted`.
    /// - Throws: `.notFound` for a document of an interface that the relay was not made for.
    public func snapshots<Document: DomainDocument>(
        of document: Document.Type
    ) throws -> some AsyncSequence<VersionedState<Document>, RelayError> & Sendable {
        let handOver = HandOver<VersionedState<Document>>()
        let body = try follow(
            document, DeliveryRoute.task(.background), .standard, .async { await handOver.give($0) },
            onFailure: .sync { error in
                // The others end: the service comes back.
                if [.schemaMismatch, .notFound, .notPermitted].contains(error.code) { handOver.finish(error) }
            }, onEnd: { handOver.finish() }, maySuspend: true)
        return DocumentStates(Subscription(DocumentStatesBody(body, handOver)), handOver)
    }
    /// Calls `handler` with the present state of a document, then with each later state.
    ///
    /// ```swift
    /// let following = try relay.follow(Inventory.self) { [weak self] present in
    ///     self?.show(present.state)
    /// } onFailure: { [weak self] error in
    ///     self?.trouble = error.message
    /// }
    /// ```
    ///
    /// - Order: versions ascend. Consecutive states differ.
    /// - Isolation: on the actor that `handler` is isolated to, otherwise where the publisher's delivery determines.
    /// - Loss: a slow handler loses no state of a durable interface. If states are missing, the relay reads the present
    ///   state and delivers it next. While the service is away, the last state remains valid; ``states`` reports the
    ///   absence.
    /// - Cancellation: by the subscription, which must be kept, and by the relay's end. After `cancel()` on the
    ///   handler's own actor, the handler is not called again.
    /// - Parameter document: the document.
    /// - Parameter buffer: how many states are held.
    /// - Parameter handler: is called with each state.
    /// - Parameter onFailure: is called when the state cannot be read, once for consecutive failures with the same
    ///   code. As long as the subscription lives, the relay retries after two seconds at most.
    /// - Returns: the subscription, which ends when it is released.
    /// - Throws: `.notFound` for a document of an interface that the relay was not made for.
    public func follow<Document: DomainDocument>(
        _ document: Document.Type, buffer: EventBuffer = .standard,
        @_inheritActorContext _ handler: @escaping @isolated(any) @Sendable (VersionedState<Document>) -> Void,
        @_inheritActorContext onFailure: @escaping @isolated(any) @Sendable (RelayError) -> Void
    ) throws -> Subscription {
        let actors = [handler.isolation, onFailure.isolation].compactMap { $0 }
        let route = actors.first.map { .closures(on: $0) } ?? DeliveryRoute.task(publisher.delivery)
        return Subscription(
            try follow(
                document, route, buffer, onActor(handler) { $0 }, onFailure: onActor(onFailure) { $0 },
                maySuspend: actors.contains { $0 !== actors[0] }))
    }
    /// Keeps a document of this process in step with a service's document, so that its views show the service's state.
    ///
    /// ```swift
    /// let inventory = LocalDocument(Inventory.initial)
    /// inventory.addView(boxList, key: "list")
    /// let following = try relay.follow(Inventory.self, into: inventory) { [weak self] in self?.trouble = $0.message }
    /// ```
    ///
    /// The document keeps its initial state until the service's first state arrives. Order, loss and cancellation are
    /// those of ``follow(_:buffer:_:onFailure:)``.
    ///
    /// - Isolation: `onFailure` runs on the actor that it is isolated to, otherwise where the publisher's delivery
    ///   determines; so do the document's immediate views.
    /// - Parameter document: the service's document.
    /// - Parameter local: is set to each state. No other code should set it.
    /// - Parameter onFailure: is called when the state cannot be read, once for consecutive failures with the same
    ///   code.
    /// - Returns: the subscription, which ends when it is released.
    /// - Throws: `.notFound` for a document of an interface that the relay was not made for.
    public func follow<State: DomainDocument>(
        _ document: State.Type, into local: LocalDocument<State>,
        @_inheritActorContext onFailure: @escaping @isolated(any) @Sendable (RelayError) -> Void
    ) throws -> Subscription {
        try follow(document, setting: { local.set($0) }, onFailure)
    }
    /// Keeps a document of this process in step with a service's document. Its state is nil until the first state
    /// arrives.
    ///
    /// In all other respects it works like the method for a document that is not optional.
    ///
    /// - Parameter document: the service's document.
    /// - Parameter local: is set to each state. No other code should set it.
    /// - Parameter onFailure: is called when the state cannot be read, once for consecutive failures with the same
    ///   code.
    /// - Returns: the subscription, which ends when it is released.
    /// - Throws: `.notFound` for a document of an interface that the relay was not made for.
    public func follow<State: DomainDocument>(
        _ document: State.Type, into local: LocalDocument<State?>,
        @_inheritActorContext onFailure: @escaping @isolated(any) @Sendable (RelayError) -> Void
    ) throws -> Subscription {
        try follow(document, setting: { local.set($0) }, onFailure)
    }
    private func follow<State: DomainDocument>(
        _ document: State.Type, setting set: @escaping @Sendable (State) -> Void,
        _ onFailure: @escaping @isolated(any) @Sendable (RelayError) -> Void
    ) throws -> Subscription {
        let route = onFailure.isolation.map { .closures(on: $0) } ?? DeliveryRoute.task(publisher.delivery)
        return Subscription(
            try follow(document, route, .standard, .sync { set($0.state) }, onFailure: onActor(onFailure) { $0 }))
    }
    /// Reads the present state of a document, once.
    ///
    /// - Cancellation: throws `.cancelled`.
    /// - Parameter document: the document.
    /// - Parameter timeout: how long to wait.
    /// - Returns: the state and its version.
    /// - Throws: `.unavailable` if there is no service, `.timedOut`, `.notPermitted`, `.schemaMismatch` if the
    ///   service's document is of another version, `.notFound` for a document that the service or this relay does not
    ///   have.
    public func snapshot<Document: DomainDocument>(
        of document: Document.Type, timeout: Duration = .seconds(25)
    ) async throws -> VersionedState<Document> {
        try check(Document.Interface.self, Document.name)
        return try await DocumentReader<Document>().read(follower, timeout: timeout)
    }

    private func follow<Document: DomainDocument>(
        _ document: Document.Type, _ route: DeliveryRoute, _ buffer: EventBuffer,
        _ handler: Handler<VersionedState<Document>>, onFailure: Handler<RelayError>,
        onEnd: @escaping @Sendable () -> Void = {}, maySuspend: Bool = false
    ) throws -> SnapshotFollower<Document, VersionedState<Document>> {
        let source = try source(event: document, from: .now, buffer)
        let reader = try DocumentReader<Document>()
        let onState = newsOnly(handler)
        let body = SnapshotFollower<Document, VersionedState<Document>>(
            source.source, route, timing,
            asking: { [weak self] in
                guard let self else { throw RelayError(.unavailable, "the relay has ended") }
                let state = try await reader.read(self.follower, timeout: self.timing.query)
                return .init(epoch: state.version.epoch, sequence: state.version.sequence, state: state)
            }, onState: onState, onEvent: onEntry(onState), onFailure: onFailure, onEnd: onEnd,
            eventsAreStates: true, maySuspend: maySuspend)
        handlers.add(body)
        source.begin()
        body.start()
        return body
    }
}

/// Leaves out the states that are shown already.
private func newsOnly<Document: DomainDocument>(
    _ handler: Handler<VersionedState<Document>>
) -> Handler<VersionedState<Document>> {
    let shown = Shown<Document>()
    switch handler {
    case .sync(let body): return .sync { if shown.shows($0.state) { body($0) } }
    case .async(let body): return .async { if shown.shows($0.state) { await body($0) } }
    }
}
/// An entry of the stream is a whole state.
private func onEntry<Document: DomainDocument>(
    _ handler: Handler<VersionedState<Document>>
) -> Handler<(Document, Stamp)> {
    switch handler {
    case .sync(let body): return .sync { body(VersionedState($0.0, version: $0.1.version)) }
    case .async(let body): return .async { await body(VersionedState($0.0, version: $0.1.version)) }
    }
}
private final class Shown<Document: DomainDocument>: Sendable {
    private let value = Mutex(ShownDocument<Document>())
    func shows(_ state: Document) -> Bool { value.withLock { $0.shows(state) } }
}

extension Stamp {
    /// Of the document's state that an entry is.
    package var version: DocumentVersion { DocumentVersion(epoch: epoch, sequence: sequence) }
}
