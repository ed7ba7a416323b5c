public import RelayCore

extension EventService {
    /// Answers a command by one unit of work of the service's journal, which commits state and events together. For an
    /// ``IdempotentCommand`` with a key, it also commits the reply.
    ///
    /// ```swift
    /// service.handle(PrintJob.self) { job, _, unit in
    ///     guard job.pages <= 100 else { throw PrintJob.Refusal.tooLong }
    ///     let id = try unit.query("INSERT INTO jobs (title) VALUES (\(job.title)) RETURNING id", as: Int64.self)[0]
    ///     try unit.publish(JobPrinted(jobID: id, title: job.title, pages: job.pages))
    ///     return PrintJob.Reply(jobID: id)
    /// }
    /// ```
    ///
    /// Errors reach the caller as with any handler. A service without an ``EventJournal`` does not start.
    ///
    /// With an idempotency key, the journal keeps the reply, in the same transaction as the unit's state and events.
    /// When the same user sends the same command with the same key again, `body` does not run, and the caller gets the
    /// first reply. This also holds after a crash between commit and reply, and while the first call is under way. With
    /// other arguments, the caller gets `.keyReused`. Refusals and errors are not kept, because nothing was done: the
    /// next attempt runs `body`.
    ///
    /// - Order: as with any unit of work. Calls with the same key run one after the other.
    /// - Loss: a reply is kept for 24 hours in which the machine runs. All kept replies together may take 64 MiB, where
    ///   each counts as its size plus 512 bytes. Beyond that, the user with the most bytes loses its oldest reply. When
    ///   the reply of a key is gone, a repetition runs the command again, so do not retry for longer than that.
    /// - Parameter type: the command.
    /// - Parameter body: does the work, and returns the reply.
    /// - Parameter onRefusal: publishes events that report a refusal.
    @_disfavoredOverload  // As `handle` without a journal.
    public func handle<C: Command>(
        _ type: C.Type, with body: @escaping @Sendable (C, CommandContext, inout UnitOfWork) throws -> C.Reply,
        onRefusal: @escaping @Sendable (C.Refusal, inout RefusalEvents) throws -> Void = { _, _ in }
    ) {
        guard let storage = storageOfUnits(for: C.name) else { return }
        handle(type) { command, context in
            try await storage.answer(
                command, from: context, { unit in try body(command, context, &unit) }, onRefusal: onRefusal)
        }
    }
    /// Answers a command without a reply by one unit of work of the service's journal.
    ///
    /// - Parameter type: the command.
    /// - Parameter body: does the work.
    /// - Parameter onRefusal: publishes events that report a refusal.
    public func handle<C: Command>(
        _ type: C.Type, with body: @escaping @Sendable (C, CommandContext, inout UnitOfWork) throws -> Void,
        onRefusal: @escaping @Sendable (C.Refusal, inout RefusalEvents) throws -> Void = { _, _ in }
    ) where C.Reply == NoReply {
        guard let storage = storageOfUnits(for: C.name) else { return }
        handle(type) { command, context in
            _ = try await storage.answer(
                command, from: context,
                { unit in
                    try body(command, context, &unit)
                    return NoReply()
                }, onRefusal: onRefusal)
        }
    }
    /// Sets a handler that decides about the states that other processes submit, in the transaction that sets them.
    ///
    /// ```swift
    /// service.handleSubmissions(of: PrinterSettings.self) { submission, unit in
    ///     guard submission.state.tray <= 3 else { throw PrinterSettings.Refusal.noSuchTray }
    ///     try unit.execute("UPDATE trays SET used = used + 1 WHERE id = \(submission.state.tray)")
    ///     return submission.state
    /// }
    /// ```
    ///
    /// The handler is called once for each operation, with the present state, on which the submission is based. It
    /// returns the state to set. If it throws, the unit is undone. The caller receives a `Refusal` of the document as
    /// it is.
    ///
    /// - Parameter type: the document, of a durable interface.
    /// - Parameter handler: is called with each submission, and returns the state to set.
    public func handleSubmissions<Document: EditableDocument>(
        of type: Document.Type,
        with handler: @escaping @Sendable (Submission<Document>, inout UnitOfWork) throws -> Document
    ) where Document.Interface.Durability == Durable {
        guard storageOfUnits(for: Document.name) != nil else { return }
        let rule = SubmissionRule<Document>.unit { submission, unit in
            guard let unit = unit as? JournalUnit else {
                throw RelayError(.internalFailure, "\(Document.name) is set in no unit of a journal")
            }
            var work = UnitOfWork(unit.engine)
            return try handler(submission, &work)
        }
        decideSubmissions(of: type, by: rule)
    }
    /// Runs a unit of work of the service's journal, as ``EventJournal/unitOfWork(_:)`` does: for code that has the
    /// service.
    ///
    /// - Parameter body: changes the state and publishes events.
    /// - Returns: what `body` returns.
    /// - Throws: as ``EventJournal/unitOfWork(_:)``. `.invalidArgument` for a service without an ``EventJournal``.
    @discardableResult
    public func unitOfWork<Result>(
        _ body: sending @escaping (inout UnitOfWork) throws -> sending Result
    ) async throws -> sending Result {
        guard let storage = storage as? JournalStorage else {
            throw RelayError(.invalidArgument, "\(name) has no EventJournal: give one to its initialiser")
        }
        storage.writer.noteUse()
        return try await storage.unitOfWork(body)
    }
    private func storageOfUnits(for what: String) -> JournalStorage? {
        if let storage = storage as? JournalStorage { return storage }
        noteMisfit(
            "\(what) is handled in a unit of work, and \(name) has no EventJournal: give one to its initialiser "
                + "(journal:)")
        return nil
    }
}

extension JournalStorage {
    func answer<C: Command>(
        _ command: C, from context: CommandContext,
        _ body: @escaping @Sendable (inout UnitOfWork) throws -> C.Reply,
        onRefusal: @escaping @Sendable (C.Refusal, inout RefusalEvents) throws -> Void = { _, _ in }
    ) async throws -> C.Reply {
        let report: @Sendable (any Error, inout RefusalEvents) throws -> Void = { error, events in
            if let refusal = error as? C.Refusal { try onRefusal(refusal, &events) }
        }
        // Without a key no schema is derived.
        var found: ReplyCodec<C>?
        let call = try KeyedCall(command, from: context) {
            let codec = try replyCodecs.codec(for: C.self)
            found = codec
            return codec.arguments
        }
        guard let call, let codec = found else {
            return try await unitOfWork({ unit in try body(&unit) }, report: report)
        }
        return try await unitOfWork({ unit in try unit.answer(call, codec, body) }, report: report)
    }

    // MARK: For the service

    func perform<Result: Sendable>(
        _ body: @escaping @Sendable (any LogUnit) throws -> Result
    ) async throws -> Result {
        try await unitOfWork { unit in try body(JournalUnit(engine: unit.engine)) }
    }
    func answer<C: Command>(
        _ command: C.Type, _ call: KeyedCall?, _ body: @escaping @Sendable (any LogUnit) throws -> C.Reply
    ) async throws -> C.Reply {
        guard let call else { return try await perform(body) }
        let codec = try replyCodecs.codec(for: command)
        return try await unitOfWork { unit in
            try unit.answer(call, codec) { try body(JournalUnit(engine: $0.engine)) }
        }
    }
}

extension UnitOfWork {
    /// The kept reply to a call, or that of `body`, which is kept from now on.
    fileprivate mutating func answer<C: Command>(
        _ call: KeyedCall, _ codec: ReplyCodec<C>, _ body: (inout UnitOfWork) throws -> C.Reply
    ) throws -> C.Reply {
        if let kept = try keptReply(to: call, codec) { return kept }
        let reply = try body(&self)
        try keep(reply, to: call, codec)
        return reply
    }
}
