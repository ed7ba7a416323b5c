import Synchronization

/// A service's one life: start, run, stop.
extension EventService {
    /// Exports the interfaces, and returns when the service owns the name. Call it only once.
    ///
    /// From then on the service answers commands, until ``run()`` or ``stop(patience:)`` ends it. If you only release
    /// the service, it leaves the bus without announcing `End`, as if it had been killed.
    ///
    /// ```swift
    /// try await service.start()
    /// print("ready")
    /// try await service.run()
    /// ```
    ///
    /// - Cancellation: ends the start, and the service.
    /// - Throws: `.notFound` at once if a command of an exported interface has no handler, or a handler has no exported
    ///   command. `.conflict` if another process owns the name. `.notPermitted` if the bus's policy forbids it.
    ///   `.unavailable` if there is no bus, or the journal has failed. `.cancelled`. `.invalidArgument` if it was
    ///   started before.
    public func start() async throws {
        try checkHandlers()
        guard case .prepared = life.move({ if case .prepared = $0 { .starting } else { nil } }) else {
            throw RelayError(.invalidArgument, "\(name) has been started already: make another EventService")
        }
        do {
            // A journal that has failed before: the name is not worth taking.
            if let reason = core.endReason { throw reason }
            try await setOlderDocuments()
            try await core.start()
        } catch {
            removeHandlers()
            life.move { _ in .ended }
            throw error
        }
        life.move { _ in .started(hasEnder: false) }
    }
    /// Serves until the task is cancelled, then finishes running commands and releases the name. Starts the service if
    /// ``start()`` has not. Call it only once.
    ///
    /// A service catches no signals. In a ``RelayProgram``, SIGTERM and Ctrl-C cancel the task. In any other program they
    /// end the process at once, as a kill does: what was committed stays, running commands are cut off, and subscribers get
    /// no `End`. A program with code at its top level begins with the frame, too: it declares a `RelayProgram`, and calls
    /// `await PrintService.main()`.
    ///
    /// This is the `run()` that swift-service-lifecycle's `Service` protocol requires:
    /// `extension EventService: Service {}` is the whole adapter. Because a cancellation ends the service, name SIGTERM
    /// and SIGINT in the group's `cancellationSignals`.
    ///
    /// - Cancellation: commands may run for ten more seconds: see ``run(following:keeping:patience:idleExit:onReady:alongside:onStopping:)``.
    /// - Throws: as ``run(following:keeping:patience:idleExit:onReady:alongside:onStopping:)``.
    public func run() async throws {
        try await run(alongside: [], patience: .seconds(10), idleExit: nil, onReady: {}, onStopping: {})
    }
    /// Serves as `run(following:…)` does.
    ///
    /// - Parameter works: run beside the service.
    /// - Parameter onEnding: is called as soon as the end was decided.
    package func run(
        alongside works: [WorkBeside], patience: Duration, idleExit: Duration?, onReady: @Sendable () -> Void,
        onEnding: @Sendable () -> Void = {}, onStopping: @Sendable () async -> Void
    ) async throws {
        // What ends it does not wait for a thread that the program's own tasks may hold.
        try await withTaskExecutorPreference(HandlerThreads.own) {
            try await serve(works, patience, idleExit, onReady, onEnding, onStopping)
        }
    }
    private func serve(
        _ works: [WorkBeside], _ patience: Duration, _ idleExit: Duration?, _ onReady: @Sendable () -> Void,
        _ onEnding: @Sendable () -> Void, _ onStopping: @Sendable () async -> Void
    ) async throws {
        let isStarter = !isStarted
        do {
            if isStarter { try await start() }
        } catch {
            // Told to end before it had begun: that is no failure.
            if Task.isCancelled, (error as? RelayError)?.code == .cancelled { return }
            throw error
        }
        guard takeEnding() else {
            if isStarter {
                // Stopped while it started: an end like any other.
                return await life.wait { if case .started = $0 { true } else { false } }
            }
            throw RelayError(.invalidArgument, "\(name) is run already, or was stopped: make another EventService")
        }
        onReady()
        if let idleExit { core.idle.begin(limit: idleExit) { [weak core] in core?.finish(nil) } }
        let besides = works.map { RunningBeside($0, core) }
        let reason = await core.untilEnd()
        onEnding()
        for beside in besides { beside.cancel() }
        let deadline = ContinuousClock.now + patience + core.timing.grace
        var failure: (any Error)?
        for beside in besides {
            let error = await beside.failure(until: deadline)
            failure = failure ?? error
        }
        // It may stop the service: that does not wait for its caller.
        let scope = CommandScope(core.queues)
        await CommandScope.$current.withValue(scope) { await onStopping() }
        scope.end()
        await withTaskCancellationHandler {
            await end(patience, startsNext: reason == nil && failure == nil)
        } onCancel: {
            core.isToldToEnd.store(true, ordering: .releasing)
        }
        if let error = reason ?? failure { throw error }
    }
    /// Ends a service that was started: finishes running commands, announces `End`, and releases the name. Returns when
    /// that is done, or at once if the service has ended or was never started.
    ///
    /// A ``run()`` under way ends, too, with its own patience. When this returns, no handler of a command runs, except
    /// a handler that ignored its cancellation after the patience.
    ///
    /// - Isolation: from any task. It does not wait for its caller: if a command's handler calls this, or a task that
    ///   the handler began and that is not detached, it returns at once. The service ends when that handler has returned
    ///   and its reply was sent. The same holds for handlers of several services that stop each other's service. A circle
    ///   that leads over the bus cannot be seen: if a handler waits for the reply of a handler that stops its service, it
    ///   is cancelled when the patience is over, and the service has ended about a second later.
    /// - Cancellation: does not shorten it.
    /// - Parameter patience: as in ``run(following:keeping:patience:idleExit:onReady:alongside:onStopping:)``.
    /// - Throws: if the service had ended by itself, the reason, unless `run()` throws it: `.unavailable` if the bus
    ///   went away, or the reason why the journal failed.
    public func stop(patience: Duration = .seconds(10)) async throws {
        core.isToldToEnd.store(true, ordering: .releasing)
        guard let wait = ServiceWaits.ofProcess.begin(for: core.queues) else {
            let isEnder = takeEnding()
            core.finish(nil)
            Task.detached(executorPreference: HandlerThreads.own) {
                // The bus hands calls out as soon as the name is owned, before `start` has returned.
                if !isEnder {
                    await self.life.wait { if case .starting = $0 { true } else { false } }
                    if !self.takeEnding() { return }
                }
                await self.end(patience)
            }
            return
        }
        defer { ServiceWaits.ofProcess.end(wait) }
        await life.wait { if case .starting = $0 { true } else { false } }
        if takeEnding() {
            let reason = core.endReason
            core.finish(nil)
            await end(patience)
            if let reason { throw reason }
            return
        }
        // Somebody else does, or there is nothing to end.
        guard isStarted else { return }
        core.finish(nil)
        await life.wait { if case .started = $0 { true } else { false } }
    }

    private var isStarted: Bool { if case .started = life.move({ _ in nil }) { true } else { false } }
    /// Whether the caller is to see to the end: one does.
    private func takeEnding() -> Bool {
        let before = life.move { if case .started(hasEnder: false) = $0 { .started(hasEnder: true) } else { nil } }
        if case .started(hasEnder: false) = before { return true }
        return false
    }
    /// - Parameter startsNext: as `ServiceCore.stop` has it.
    private func end(_ patience: Duration, startsNext: Bool = false) async {
        // In a task of its own: this one may be cancelled, which would cut the leave-taking short, and lose what still
        // waits.
        await Task.detached(executorPreference: HandlerThreads.own) { [core] in
            await core.stop(patience: patience, startsNext: startsNext)
        }
        .value
        removeHandlers()
        life.move { _ in .ended }
    }
    /// A handler may well keep this service, which keeps it.
    private func removeHandlers() {
        for command in commands.values { command.removeHandler() }
        rules.end()
    }

    /// The documents of older interfaces begin as what they become of the newer ones: a release that maps otherwise, or
    /// is the first that serves them, need not wait for a change.
    private func setOlderDocuments() async throws {
        guard let storage else { return }
        for document in interfaces.flatMap(\.documents) {
            do { try await document.setOlder(in: storage) } catch let error as RelayError
                where error.storageTrouble != nil
            {
                // A service that only reads is better than none. The journal reports it.
            }
        }
    }
    private func checkHandlers() throws(RelayError) {
        if let misfit = misfits.withLock({ $0.first }) { throw RelayError(.notFound, misfit) }
        for interface in interfaces {
            for command in interface.commands.values where !command.hasHandler {
                throw RelayError(
                    .notFound,
                    "no handler for \(interface.name).\(command.name): call handle(\(command.name).self) before run()")
            }
        }
    }
}
