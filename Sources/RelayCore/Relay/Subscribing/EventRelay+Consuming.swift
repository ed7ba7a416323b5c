import Synchronization

/// What a consumer handles in one transaction, with its position.
package struct ConsumedBatch<Payload: Sendable>: Sendable {
    package enum Item: Sendable {
        case event(Payload, Stamp)
        case gap(Gap)
    }
    package let items: [Item]
    /// The position behind them, to be kept; nil: as before.
    package let position: CursorText?
    package let interface: String
}

extension EventRelay {
    /// Calls a handler with what is there together, and with the position behind it, which the handler keeps.
    ///
    /// - Parameters:
    ///   - position: what was kept last.
    ///   - start: where to begin without one.
    ///   - most: how many at once.
    ///   - isPassing: whether an error of the handler passes by itself.
    ///   - onEnd: is called once, when nothing more comes.
    package func consume<Followed: Subscribable>(
        _ type: Followed.Type, keeping position: CursorText?, from start: StreamPosition, atMost most: Int,
        isPassing: @escaping @Sendable (any Error) -> Bool, onEnd: @escaping @Sendable () -> Void,
        _ handle: @escaping @Sendable (ConsumedBatch<Followed>) async throws -> Void
    ) throws -> Subscription {
        let (interface, names) = try place(of: type)
        let keeper = try ConsumedPosition(position, of: interface, names: names, service: service, onEnd: onEnd)
        let source = try source(of: type, from: start, .standard, keptBy: keeper)
        let handling = AwaitedHandler<Followed>.Handling(
            most: most,
            handler: .init { items in
                let place = items.last { $0.place != nil }?.place
                try await handle(
                    ConsumedBatch(
                        items: items.compactMap { item in
                            switch item.taken {
                            case .event(let payload, let stamp): .event(payload, stamp)
                            case .gap(let gap): .gap(gap)
                            case .caughtUp: nil
                            }
                        }, position: place.map { keeper.text(at: $0) }, interface: interface))
            }, isPassing: isPassing)
        let body = AwaitedHandler(
            source.source, .task(.background), retries: timing.handlerRetries, handling, reporter(of: "\(type)"))
        handlers.add(body)
        body.begin()
        source.begin()
        return Subscription(body)
    }
    private func place<Followed: Subscribable>(of type: Followed.Type) throws -> (String, Set<String>?) {
        func place<E: DomainEvent>(_ type: E.Type) -> (String, Set<String>?) { (E.Interface.name, [E.name]) }
        func place<I: EnumInterface>(in type: I.Type) -> (String, Set<String>?) { (I.name, nil) }
        if let event = type as? any DomainEvent.Type { return place(event) }
        if let interface = type as? any EnumInterface.Type { return place(in: interface) }
        throw RelayError(
            .invalidArgument, "\(type) is Subscribable alone: make it a DomainEvent, or an EnumInterface")
    }
}

extension CursorText {
    /// How far it has come in an interface.
    package func hasPassed(_ stamp: Stamp, in interface: String) -> Bool {
        places[interface].map { $0.epoch == stamp.epoch && $0.sequence >= stamp.sequence } ?? false
    }
}

/// A position that its consumer keeps, in the transaction of what it does.
private final class ConsumedPosition: PositionKeeper {
    private let service: String
    private let interface: String
    private let names: Set<String>?
    let start: CursorPlace?
    private let lineage: Mutex<RunLineage>
    private let onEnd: @Sendable () -> Void
    private let isEnded = Atomic(false)
    var isUnwritten: Bool { false }

    init(
        _ kept: CursorText?, of interface: String, names: Set<String>?, service: String,
        onEnd: @escaping @Sendable () -> Void
    ) throws(RelayError) {
        (self.service, self.interface, self.names, self.onEnd) = (service, interface, names, onEnd)
        let place = kept?.places[interface]
        if let kept, kept.service != service || place == nil || place?.names != names {
            let before = kept.places.map { "\($0.key) \($0.value.names?.sorted().joined(separator: ",") ?? "*")" }
            throw RelayError(
                .invalidArgument,
                "the position was kept for \(before.joined(separator: " ")) of \(kept.service), and is asked for "
                    + "\(interface) \(names?.sorted().joined(separator: ",") ?? "*") of \(service): take another name")
        }
        start = place
        var lineage = RunLineage()
        if let place { lineage.learn(place.runs) }
        self.lineage = Mutex(lineage)
    }
    deinit { end() }

    func text(at place: ReplayBuffer.Place) -> CursorText {
        var text = CursorText(service: service)
        let runs = lineage.withLock { $0.ancestry(of: place.epoch) }
        text.places[interface] = CursorPlace(names: names, epoch: place.epoch, sequence: place.sequence, runs: runs)
        return text
    }
    /// The handler has kept it already.
    func advance(_ place: ReplayBuffer.Place) {}
    func learn(_ runs: [StreamRun]) { lineage.withLock { $0.learn(runs) } }
    func end() { if !isEnded.exchange(true, ordering: .acquiringAndReleasing) { onEnd() } }
}
