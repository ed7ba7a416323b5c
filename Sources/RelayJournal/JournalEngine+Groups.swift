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
        var failures: [(place: Int, error: any Error)] = []
        /// Why nothing of it can be committed: to whoever caused it, and to all others.
        var doom: (own: RelayError, others: RelayError)?
        /// The closure that runs.
        var events: [EncodedEvent] = []
        var isSaved = false
        var time: UInt64 = 0
    }

    /// So many callers the writer resumes itself.
    private static let fewCallers = 15

    /// Does everything that is asked for, in groups; returns when all callers have been told.
    ///
    /// - Parameter more: called when a group could be committed; adds what is to share its commit, and returns whether that is
    ///   anything.
    func run(_ works: inout [JournalWork], more: (inout [JournalWork]) -> Bool) {
        var place = 0
        while place < works.count {
            if case .call(let body) = works[place] {
                body(self)
                place += 1
            } else {
                relieveIfStarved()
                place = runGroup(&works, from: place, more)
            }
        }
    }
    /// Returns where the next group begins.
    private func runGroup(
        _ works: inout [JournalWork], from start: Int, _ more: (inout [JournalWork]) -> Bool
    ) -> Int {
        if let refusal = refusal() {
            works[start].finish(refusal)
            return start + 1
        }
        var end = start
        do {
            try sql.begin.run()
        } catch {
            let refusal = consequence(of: error)
            while end < works.count, !works[end].isCall {
                works[end].finish(refusal)
                end += 1
            }
            return end
        }
        repeat {
            if let failure = perform(works[end]) { group.failures.append((end, failure)) }
            end += 1
        } while group.doom == nil && (end < works.count || more(&works)) && !works[end].isCall
        do {
            if group.doom == nil { try commitGroup() } else { rollBack() }
        } catch {
            group.doom = (error, error)
        }
        let doom = group.doom
        if doom == nil { emit() }
        var failures = group.failures[...]
        // Keeps the memory: the next group will be as large.
        group.dirty.removeAll(keepingCapacity: true)
        (group.volatile, group.failures, group.doom) = ([], [], nil)
        if end - start > Self.fewCallers && failures.isEmpty && doom == nil {
            resume(works[start..<end])
            return end
        }
        for place in start..<end {
            let own = failures.first?.place == place ? failures.removeFirst().error : nil
            works[place].finish(own ?? doom?.others)
        }
        return end
    }
    /// Lets many go on, by threads of the pool: the writer goes on with the next group.
    private func resume(_ works: ArraySlice<JournalWork>) {
        // By two: one alone would find the other asleep, and wake it, each time that it has done what came before.
        let middle = works.startIndex + works.count / 2
        for half in [works[..<middle], works[middle...]] { Task.detached { for work in half { work.finish(nil) } } }
    }
    /// Why nothing may be tried now.
    private func refusal() -> RelayError? {
        if failure != nil { return unavailable() }
        if isStarved {
            if !reserve.make() {
                return RelayError(
                    .storageFull,
                    "the disk of \(file.path) is full: nothing was done; free \(ReserveFile.size >> 20) MiB and more, "
                        + "and try again")
            }
            isStarved = false
        }
        return nil
    }

    // MARK: Units

    private func perform(_ work: JournalWork) -> (any Error)? {
        group.time = Timestamp.now.microseconds
        switch work {
        case .events(let events, _): return insert(events)
        case .unit(let body): return perform(body)
        case .call: return nil
        }
    }
    private func perform(_ body: any UnitBody) -> (any Error)? {
        defer { (group.events, group.isSaved) = ([], false) }
        var failure: (any Error)?
        do {
            var unit = UnitOfWork(self)
            try body.run(in: &unit)
        } catch { failure = error }
        if let doom = group.doom { return failure ?? doom.own }
        if failure == nil && group.isSaved && database.hasOpenForeignKeys {
            failure = RelayError(.conflict, "\(file.path): FOREIGN KEY constraint failed; the unit was undone")
        }
        if failure == nil { failure = insert(group.events) }
        if group.doom == nil && group.isSaved {
            do {
                if failure != nil { try sql.restore.run() }
                try sql.release.run()
            } catch {
                doom(error)
                return failure ?? group.doom?.own
            }
        }
        return failure
    }
    func publish<E: DomainEvent>(_ event: E) throws {
        guard let encoder else {
            throw RelayError(
                .notFound,
                "\(E.name) is of \(E.Interface.name), which nobody exports: make the EventService with this journal first"
            )
        }
        group.events.append(try encoder.encode(event))
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
    private func doom(_ error: SQLiteError) {
        let error = consequence(of: error)
        group.doom = (error, error)
    }

    // MARK: Events

    /// Gives events their places. Returns why not: then the group is doomed, or nothing was done.
    private func insert(_ events: [EncodedEvent]) -> RelayError? {
        for event in events {
            guard case .durable(let interface, let number, _) = event else { continue }
            if !interfaces.indices.contains(interface) || !interfaces[interface].names.indices.contains(number) {
                return RelayError(.internalFailure, "no event \(number) of interface \(interface) in \(file.path)")
            }
        }
        for event in events {
            switch event {
            case .volatile(let body): group.volatile.append(body)
            case .durable(let interface, let number, let fields):
                do { try insert(number, fields, at: interface) } catch {
                    doom(error)
                    return group.doom?.own
                }
            }
        }
        return nil
    }
    private func insert(_ number: Int, _ fields: [UInt8], at index: Int) throws(SQLiteError) {
        if interfaces[index].touched.isEmpty { group.dirty.append(index) }
        let event = interfaces[index].place(number, fields, at: group.time)
        let (name, schema) = (interfaces[index].names[number].bytes, interfaces[index].names[number].schema)
        let insert = sql.insert
        insert.bind(interfaces[index].id, at: 1)
        insert.bind(Int64(bitPattern: event.sequence), at: 2)
        insert.bind(borrowed: name, at: 3)
        insert.bind(schema, at: 4)
        insert.bind(Int64(bitPattern: group.time), at: 5)
        // The step is within the call: the borrowed bytes are not looked at later.
        let failure = event.body.withUnsafeBytes { bytes -> SQLiteError? in
            insert.bind(borrowed: bytes, at: 6)
            defer { insert.reset() }
            do throws(SQLiteError) {
                _ = try insert.step()
                return nil
            } catch { return error }
        }
        if let failure { throw failure }
        interfaces[index].emissions.append(event)
    }
    private func commitGroup() throws(RelayError) {
        do throws(SQLiteError) {
            for index in group.dirty { try writeCounters(of: interfaces[index]) }
        } catch {
            rollBack()
            throw consequence(of: error)
        }
        faults.at?(.beforeCommit)
        try commitTransaction()
        for index in group.dirty { interfaces[index].wasCommitted(at: group.time) }
        faults.at?(.afterCommit)
    }
    private func writeCounters(of interface: InterfaceState) throws(SQLiteError) {
        let counters = interface.counters
        let statement = sql.counters
        statement.bind(Int64(bitPattern: counters.sequence), at: 1)
        statement.bind(Int64(bitPattern: counters.events), at: 2)
        statement.bind(Int64(bitPattern: counters.bytes), at: 3)
        statement.bind(interface.id, at: 4)
        try runOnce(statement)
        for name in interface.touched {
            let statement = sql.last
            statement.bind(Int64(bitPattern: counters.last[name]), at: 1)
            statement.bind(interface.id, at: 2)
            statement.bind(borrowed: interface.names[name].bytes, at: 3)
            try runOnce(statement)
        }
    }
    private func runOnce(_ statement: Statement) throws(SQLiteError) {
        defer { statement.reset() }
        _ = try statement.step()
    }

    // MARK: What leaves

    private func emit() {
        var isFirst = true
        for index in group.dirty {
            let lane = interfaces[index].logged.lane
            var events: [CommittedEvent] = []
            swap(&events, &interfaces[index].emissions)
            if let at = faults.at {
                for event in events {
                    if !isFirst { at(.betweenEmissions) }
                    isFirst = false
                    lane.emit([event])
                }
            } else {
                lane.emit(events)
            }
            events.removeAll(keepingCapacity: true)
            swap(&events, &interfaces[index].emissions)
        }
        for send in group.volatile {
            if !isFirst { faults.at?(.betweenEmissions) }
            isFirst = false
            send()
        }
        faults.at?(.beforeResume)
    }
}

extension JournalWork {
    var isCall: Bool { if case .call = self { true } else { false } }
    /// Lets the caller go on.
    func finish(_ failure: (any Error)?) {
        switch self {
        case .events(_, let continuation):
            if let failure { continuation.resume(throwing: failure) } else { continuation.resume() }
        case .unit(let body): body.finish(failure)
        case .call: break
        }
    }
}
