import CSQLite
import RelayCore

/// Units of concurrent callers share a commit, not a fate.
extension JournalEngine {
    struct Group {
        /// Which interfaces have events in it.
        var dirty: [Int] = []
        /// What is to be called when it is on disk.
        var volatile: [@Sendable () -> Void] = []
        /// Whose units failed by themselves, by their places in what was asked for.
        var failures: [GroupOutcome.Failure] = []
        /// Why nothing of it can be committed: the error for the unit that caused it, and for all others.
        var doom: (own: RelayError, others: RelayError)?
        /// The closure that runs.
        var events: [EncodedEvent] = []
        var isSaved = false
        /// The sequences that it leaves out before its events: up to which, by interface.
        var skips: [(interface: Int, last: UInt64)] = []
        /// The documents that its units have set; and those that the one has which runs.
        var documents = DocumentDrafts()
        var time: UInt64 = 0
    }

    /// Runs everything that is asked for, in groups. Finishes all groups but the last, and returns that one's outcome.
    ///
    /// - Parameter more: called when a group could be committed; adds what is to share its commit, and returns whether
    ///   that is anything.
    func run(_ works: inout [JournalWork], more: (inout [JournalWork]) -> Bool) -> GroupOutcome? {
        var (place, last): (Int, GroupOutcome?) = (0, nil)
        while place < works.count {
            last?.finish(works)
            last = nil
            if case .call(let body) = works[place] {
                body(self)
                place += 1
            } else {
                relieveIfStarved()
                let outcome = runGroup(&works, from: place, more)
                (place, last) = (outcome.range.endIndex, outcome)
            }
        }
        return last
    }
    private func runGroup(
        _ works: inout [JournalWork], from start: Int, _ more: (inout [JournalWork]) -> Bool
    ) -> GroupOutcome {
        if let refusal = refusal() { return GroupOutcome(range: start..<start + 1, doom: refusal) }
        do {
            try sql.begin.run()
        } catch {
            let end = works[start...].firstIndex { $0.isCall } ?? works.count
            return GroupOutcome(range: start..<end, doom: consequence(of: error))
        }
        var end = start
        group.time = now
        repeat {
            if let error = perform(&works[end]) {
                group.failures.append(.init(place: end, error: error, isOfDoom: group.doom != nil))
            }
            end += 1
        } while group.doom == nil && (end < works.count || more(&works)) && !works[end].isCall
        do {
            if group.doom == nil { try commitGroup() } else { rollBack() }
        } catch {
            group.doom = (error, error)
        }
        let outcome = GroupOutcome(range: start..<end, failures: group.failures, doom: group.doom?.others)
        if group.doom == nil {
            emit()
            if trouble != nil { endTrouble() }
        }
        // Keeps the memory: the next group will be as large.
        group.dirty.removeAll(keepingCapacity: true)
        (group.volatile, group.failures, group.doom) = ([], [], nil)
        group.documents.end()
        return outcome
    }
    /// What events are stamped with: a test's time, where the service has one.
    private var now: UInt64 { (interfaces.isEmpty ? .now : interfaces[0].logged.clock?.timestamp ?? .now).microseconds }
    /// Why nothing may be tried now.
    private func refusal() -> RelayError? {
        if failure != nil { return unavailable() }
        if isStarved {
            if !reserve.make() {
                let trouble = StorageTrouble(SystemError(reserve.refusal))
                return RelayError(
                    .storageFull,
                    "\(trouble.clause(file.path)): nothing was done; free \(DiskRoom.text(ReserveFile.size)) and "
                        + "more, and try again", cause: trouble.system)
            }
            isStarved = false
        }
        return secureIfNeeded()
    }

    // MARK: Units

    private func perform(_ work: inout JournalWork) -> (any Error)? {
        switch work {
        case .event(let event, let continuation):
            // Out of there, so that nothing else holds it: its stamp is written in place.
            work = .events([], continuation)
            return take(event)
        case .events(let events, _): return take(events)
        case .unit(let body):
            group.time = now
            return perform(body)
        case .call: return nil
        }
    }
    private func perform(_ body: any UnitBody) -> (any Error)? {
        defer { (group.events, group.isSaved, group.skips) = ([], false, []) }
        defer { group.documents.dropUnit() }
        var failure: (any Error)?
        do {
            var unit = UnitOfWork(self)
            try body.run(in: &unit)
        } catch { failure = error }
        if let doom = group.doom { return failure ?? doom.own }
        if let failure { return endSavepoint(isUndone: true) ?? report(failure, of: body) ?? failure }
        if group.isSaved && database.hasOpenForeignKeys {
            failure = RelayError(.conflict, "\(file.path): FOREIGN KEY constraint failed; the unit was undone")
        } else {
            for skip in group.skips { self.skip(through: skip.last, of: skip.interface) }
            failure = take(group.events)
        }
        if group.doom != nil { return failure }
        if failure == nil { group.documents.keepUnit() }
        return endSavepoint(isUndone: failure != nil) ?? failure
    }
    /// Keeps or undoes what the unit did. Returns why that cannot be: then the group is doomed.
    private func endSavepoint(isUndone: Bool) -> RelayError? {
        if !group.isSaved { return nil }
        group.isSaved = false
        do {
            if isUndone { try sql.restore.run() }
            try sql.release.run()
        } catch {
            doom(error)
            return group.doom?.own
        }
        return nil
    }
    /// Gives the events that report a refusal their places. Returns what takes the refusal's place, if they have none.
    private func report(_ refusal: any Error, of body: any UnitBody) -> (any Error)? {
        // The unit's own: undone with it.
        group.events = []
        do {
            var events = RefusalEvents(self)
            try body.report(refusal, in: &events)
        } catch { return error }
        return take(group.events)
    }
    func publish<E: StreamEntry>(_ event: E) throws {
        guard let encoder else {
            throw RelayError(
                .notFound,
                "\(E.name) is of \(E.Interface.name), which nobody exports: make the EventService with this journal first"
            )
        }
        group.events += try encoder.encode(event).parts
    }
    func asDomain<Result>(_ text: String, _ body: (DomainSQL) throws -> Result) throws -> Result {
        if let doom = group.doom { throw doom.own }
        do {
            if !group.isSaved {
                try sql.save.run()
                group.isSaved = true
            }
            let result = try body(domain)
            try checkTransaction(text)
            return result
        } catch let error as SQLiteError {
            if error.endsTransaction {
                doom(error)
            } else {
                try checkTransaction(text)
            }
            throw group.doom?.own ?? error.asRelayError("'\(text.prefix(200))' on \(file.path)")
        }
    }
    /// A statement can end the transaction: by ON CONFLICT ROLLBACK.
    private func checkTransaction(_ text: String) throws(RelayError) {
        if database.isInTransaction { return }
        let own = RelayError(
            .invalidArgument,
            "'\(text.prefix(200))' on \(file.path) ended the transaction; nothing was done: use ON CONFLICT ABORT")
        group.doom = (
            own,
            RelayError(
                .unavailable, "\(file.path): another unit ended the transaction; nothing was done: try again",
                cause: own)
        )
        throw own
    }
    func doom(_ error: SQLiteError) {
        let error = consequence(of: error)
        group.doom = (error, error)
    }
}

extension JournalWork {
    var isCall: Bool { if case .call = self { true } else { false } }
    /// Lets the caller go on.
    func finish(_ failure: (any Error)?) {
        switch self {
        case .event(_, let continuation), .events(_, let continuation):
            if let failure { continuation.resume(throwing: failure) } else { continuation.resume() }
        case .unit(let body): body.finish(failure)
        case .call: break
        }
    }
}
