public import RelayCore

extension EventJournal {
    /// Does something with each event of another service exactly once: what it does, and how far it has come, are one unit
    /// of work of this journal.
    ///
    /// ```swift
    /// let orders = try EventRelay(following: "org.example.Shop", interfaces: Orders1.self)
    /// let totals = try await journal.consume(Orders1.self, of: orders, as: "totals") { event, unit in
    ///     guard case .placed(let order) = event else { return }
    ///     try unit.execute("UPDATE totals SET count = count + \(order.count) WHERE article = \(order.article)")
    ///     try unit.publish(TotalChanged(article: order.article))
    /// } onGap: { gap, unit in
    ///     try unit.execute("UPDATE totals SET isWhole = FALSE")
    /// }
    /// try await orders.run(keeping: totals)
    /// ```
    ///
    /// The position is that of the consumer's name in this journal. So the state, the events that `body` publishes, and the
    /// position commit together or not at all, whatever is killed meanwhile. If the other service's history was replaced,
    /// `onGap` gets a gap that says from where on.
    ///
    /// - Order: that of the interface. Events that are there together share a unit of work, up to 256.
    /// - Isolation: `body` runs where units of work run, and keeps all of them waiting.
    /// - Loss: a gap stands in place of events that are gone, as with any subscription. It is given to `onGap` in its place,
    ///   and in the same unit of work.
    /// - Cancellation: by the subscription, which must be kept, and by the relay's end.
    /// - Parameter type: the type of event, or the interface.
    /// - Parameter relay: follows the other service.
    /// - Parameter name: the consumer's name in this journal, `[A-Za-z0-9_-]{1,64}`.
    /// - Parameter start: where to begin the first time.
    /// - Parameter body: changes the state and publishes events. If it throws, that event's unit is undone, and `body` is
    ///   called again with the same event after 0.1, 0.5, 2 and 8 seconds. If it throws once more, the subscription ends
    ///   before that event, as ``EventRelay/run(keeping:)`` describes. While the disk is full, attempts go on.
    /// - Parameter onGap: accounts for a gap.
    /// - Returns: the subscription, which ends when it is released.
    /// - Throws: `.conflict` while the name is in use. `.invalidArgument` for a bad name, for `.resuming` as the start, and
    ///   for a name whose position is of another service or of other events. What the journal throws, and what
    ///   ``EventRelay`` throws for a type that the relay does not follow.
    public func consume<Followed: Subscribable>(
        _ type: Followed.Type, of relay: EventRelay, as name: String, from start: StreamPosition = .beginning,
        _ body: @escaping @Sendable (Followed, inout UnitOfWork) throws -> Void,
        onGap: @escaping @Sendable (Gap, inout UnitOfWork) throws -> Void
    ) async throws -> Subscription {
        try await consume(type, of: relay, as: name, from: start) { event, _, unit in
            try body(event, &unit)
        } onGap: { gap, unit in
            try onGap(gap, &unit)
        }
    }
    /// The same, with the place of each event in its stream, and its time.
    ///
    /// - Parameter type: the type of event, or the interface.
    /// - Parameter relay: follows the other service.
    /// - Parameter name: the consumer's name in this journal.
    /// - Parameter start: where to begin the first time.
    /// - Parameter body: changes the state and publishes events.
    /// - Parameter onGap: accounts for a gap.
    /// - Returns: the subscription, which ends when it is released.
    /// - Throws: as the method whose `body` takes no stamp.
    public func consume<Followed: Subscribable>(
        _ type: Followed.Type, of relay: EventRelay, as name: String, from start: StreamPosition = .beginning,
        _ body: @escaping @Sendable (Followed, Stamp, inout UnitOfWork) throws -> Void,
        onGap: @escaping @Sendable (Gap, inout UnitOfWork) throws -> Void
    ) async throws -> Subscription {
        guard CursorText.isName(name) else {
            throw RelayError(
                .invalidArgument, "'\(name)' is no name for a consumer: 1 to 64 of A-Z, a-z, 0-9, '_' and '-'")
        }
        if case .resuming = start.kind {
            throw RelayError(
                .invalidArgument, "a consumer's position is in the journal: give .beginning, .now, .since or .after")
        }
        let names = storage.consumers
        try names.take(name, storage.path)
        do {
            let position = try await storage.unitOfWork { unit in try unit.position(of: name) }
            return try relay.consume(
                type, keeping: position, from: start, atMost: 256,
                isPassing: { [storage] in storage.isPassing($0) }, onEnd: { names.release(name) }
            ) { [storage] batch in
                storage.writer.noteUse()
                try await storage.unitOfWork { unit in
                    let kept = try unit.position(of: name)
                    for item in batch.items {
                        switch item {
                        case .event(let event, let stamp):
                            if kept?.hasPassed(stamp, in: batch.interface) != true { try body(event, stamp, &unit) }
                        case .gap(let gap): try onGap(gap, &unit)
                        }
                    }
                    if let position = batch.position { try unit.keep(position, of: name) }
                }
            }
        } catch {
            names.release(name)
            throw error
        }
    }
}

extension JournalStorage {
    /// Whether nothing was done for want of a disk that may come back.
    fileprivate func isPassing(_ error: any Error) -> Bool {
        guard let error = error as? RelayError, writer.failure == nil else { return false }
        return error.code == .storageFull || error.storageTrouble != nil
    }
}

extension UnitOfWork {
    fileprivate mutating func position(of consumer: String) throws -> CursorText? {
        var text: String?
        try ownRows("SELECT position FROM relay_consumers WHERE name = ?", [.text(consumer)]) {
            text = $0.text("position")
        }
        guard let text else { return nil }
        guard let position = CursorText(parsing: text) else {
            throw RelayError(
                .unavailable, "the position of '\(consumer)' is damaged: restore the journal from a backup")
        }
        return position
    }
    fileprivate mutating func keep(_ position: CursorText, of consumer: String) throws {
        try ownRows(
            "REPLACE INTO relay_consumers (name, position) VALUES (?, ?)",
            [
                .text(consumer), .text(position.text),
            ]
        ) { _ in }
    }
}
