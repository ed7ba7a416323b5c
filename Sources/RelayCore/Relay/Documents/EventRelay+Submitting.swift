/// Changes of a service's documents.
extension EventRelay {
    /// Submits a document's next state once, and returns how that ended: for `submit` and `update`.
    package func outcome<Document: EditableDocument>(
        ofSubmitting state: Document, basedOn version: DocumentVersion, idempotencyKey: String? = nil,
        timeout: Duration = .seconds(25)
    ) async -> SubmitOutcome<Document> {
        await outcome(
            ofSubmitting: state, basedOn: version, idempotencyKey: idempotencyKey ?? Self.newIdempotencyKey(),
            isRepeated: idempotencyKey != nil, timeout: timeout)
    }
    private func outcome<Document: EditableDocument>(
        ofSubmitting state: Document, basedOn version: DocumentVersion, idempotencyKey: String, isRepeated: Bool,
        timeout: Duration
    ) async -> SubmitOutcome<Document> {
        await submission(
            SubmitDocument(state, basedOn: version, idempotencyKey: idempotencyKey), isRepeated: isRepeated,
            timeout: timeout)
    }
    /// Submits a document's next state once, and returns the new version. Submitting a read-only document does not
    /// compile.
    ///
    /// ```swift
    /// let present = try await relay.snapshot(of: PrinterSettings.self)
    /// var next = present.state
    /// next.tray = 2
    /// do { try await relay.submit(next, basedOn: present.version) } catch .conflict { reload() }
    /// ```
    ///
    /// - Parameter state: the whole new state.
    /// - Parameter version: the version that it is based on.
    /// - Parameter idempotencyKey: at most 255 bytes that identify this submission; nil means a random key. A
    ///   repetition with the same key changes nothing and has the outcome of the first submission. So after an error
    ///   whose `mayHaveRun` is true, submit the same state again with the same key. If the service has forgotten the
    ///   first submission, and the document has changed since, the repetition fails with `.outcomeUnknown`.
    /// - Parameter timeout: how long to wait.
    /// - Returns: the document's version after the submission.
    /// - Throws: the document's `Refusal` as it is; `.conflict` if it has another version than `version`; or as with
    ///   ``outcome(of:timeout:)``.
    @discardableResult
    public func submit<Document: EditableDocument>(
        _ state: Document, basedOn version: DocumentVersion, idempotencyKey: String? = nil,
        timeout: Duration = .seconds(25)
    ) async throws -> DocumentVersion {
        try await outcome(ofSubmitting: state, basedOn: version, idempotencyKey: idempotencyKey, timeout: timeout).get()
    }
    /// Changes a document: reads the present state, submits the changed state, and starts over if another program
    /// changed the document first.
    ///
    /// ```swift
    /// try await relay.update(PrinterSettings.self) { $0.tray = 2 }
    /// ```
    ///
    /// Each attempt has an idempotency key. While the service is away, or when the reply is lost, the attempt is
    /// repeated with the same key. So the change is applied once, even if the service is killed meanwhile. A new run of
    /// the service resets a volatile document; the update then starts over, too.
    ///
    /// - Isolation: `change` runs where this is called.
    /// - Cancellation: throws `.cancelled`.
    /// - Parameter document: the document.
    /// - Parameter limit: how long to try.
    /// - Parameter change: changes the state, and should do nothing else, because it is called again after each
    ///   conflict, with the state of that time. If it leaves the state equal, nothing is submitted.
    /// - Returns: the state that was set, and its version.
    /// - Throws: what `change` throws. The document's `Refusal` as it is. `.conflict` if other programs
    ///   changed the document before each attempt, until the limit. `.outcomeUnknown` if a reply was lost, and the
    ///   service had forgotten this operation before the repetition arrived. Otherwise as with
    ///   ``outcome(of:timeout:)``.
    @discardableResult
    public nonisolated(nonsending) func update<Document: EditableDocument>(
        _ document: Document.Type, within limit: Duration = .seconds(25), _ change: (inout Document) throws -> Void
    ) async throws -> VersionedState<Document> {
        let deadline = ContinuousClock.now + limit
        var pause = Backoff(timing.update)
        while true {
            let present = try await read(document, until: deadline)
            var next = present.state
            try change(&next)
            if next == present.state { return present }
            let key = Self.newIdempotencyKey()
            var isInDoubt = false
            attempt: while true {
                let outcome = await outcome(
                    ofSubmitting: next, basedOn: present.version, idempotencyKey: key, isRepeated: isInDoubt,
                    timeout: max(.milliseconds(1), deadline - .now))
                if case .failed(let error) = outcome, error.mayHaveRun { isInDoubt = true }
                switch DocumentUpdate.step(after: outcome.kind, isTimeLeft: .now < deadline && !Task.isCancelled) {
                case .end: return VersionedState(next, version: try outcome.get())
                case .begin: break attempt
                case .repeat: try await Self.wait(for: pause.next(), until: deadline)
                }
            }
        }
    }
    /// The present state, from a service that may be away for a while.
    private nonisolated(nonsending) func read<Document: DomainDocument>(
        _ document: Document.Type, until deadline: ContinuousClock.Instant
    ) async throws -> VersionedState<Document> {
        var pause = Backoff(timing.update)
        while true {
            do {
                return try await snapshot(of: document, timeout: max(.milliseconds(1), deadline - .now))
            } catch let error as RelayError {
                if !DocumentUpdate.isPassing(error.code) || .now >= deadline || Task.isCancelled { throw error }
            }
            try await Self.wait(for: pause.next(), until: deadline)
        }
    }
    private nonisolated(nonsending) static func wait(
        for pause: Duration, until deadline: ContinuousClock.Instant
    ) async throws {
        do { try await Task.sleep(until: min(.now + pause, deadline)) } catch {
            throw RelayError(.cancelled, "the task was cancelled before its change was submitted")
        }
    }
    private static func newIdempotencyKey() -> String {
        (0..<2).map { _ in String(UInt64.random(in: 1...(.max)), radix: 16) }.joined(separator: "-")
    }
}
