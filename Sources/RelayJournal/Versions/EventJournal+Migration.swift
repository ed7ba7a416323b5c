import RelayCore
public import RelayInspection

extension EventJournal {
    /// Brings a program's own tables to their present version, step by step, before the program uses them.
    ///
    /// Each step is one transaction: after a crash it is done entirely, or not at all. The journal records finished
    /// steps, so each runs once. Before the first step, a journal that is not empty is copied to
    /// `DIRECTORY/backups/NAME-VERSION-TIME.sqlite`. Only the journal's user can read the copy. The copy is examined
    /// and synced before any table changes. For each name, the newest backup of each of the last three versions is
    /// kept, so a step that fails repeatedly does not remove the backup of another version.
    ///
    /// - Order: one call after the other.
    /// - Isolation: the steps and the copy keep all other units waiting. The copy of a large journal takes seconds.
    ///   Call this before the service starts.
    /// - Loss: only the step that fails is undone. Earlier steps remain done, and the next call continues after them.
    /// - Cancellation: a cancellation takes effect between two steps.
    /// - Parameter name: the name of this set of tables, `[A-Za-z0-9_-]{1,64}`. A journal may have several sets.
    /// - Parameter migrations: all steps since the first version, in order.
    /// - Returns: the version before and after, and the backup: `import RelayInspection` to read them.
    /// - Throws: `.schemaMismatch` for tables of a newer version, or if the finished steps are not the first of
    ///   `migrations`. `.storageFull` if there is no room for the backup, `.unavailable` if the backup cannot be made
    ///   or is not whole; no step was done in these cases. `.invalidArgument` for a bad name. `.cancelled`. What a step
    ///   throws.
    @discardableResult
    public func migrate(_ name: String, by migrations: [Migration]) async throws -> MigrationOutcome {
        try Self.check(name, migrations)
        do { return try await run(name, migrations) } catch let error as RelayError { throw error.ofOpening }
    }
    private func run(_ name: String, _ migrations: [Migration]) async throws -> MigrationOutcome {
        await self.migrations.enter()
        defer { self.migrations.leave() }
        // Without a unit, which a full disk would refuse: where nothing is to be done, nothing is written.
        let found = try MigrationVersion.check(try await storage.migrationsDone(of: name), name, migrations)
        if found == migrations.count { return MigrationOutcome(from: found, to: found, backup: nil) }
        let isEmpty = try await storage.unitOfWork { unit in try unit.hasNoTables() }
        let backup = isEmpty ? nil : try await storage.backUp(before: name, version: found)
        for (number, migration) in migrations.enumerated().dropFirst(found) {
            if Task.isCancelled {
                throw RelayError(.cancelled, "the migration of \(name) was cancelled before step '\(migration.name)'")
            }
            try await storage.unitOfWork { unit in
                // Looked up again: units of somebody else may have run in between.
                if try unit.version(of: name, migrations) > number { return }
                try migration.body(&unit)
                try unit.note(migration.name, number + 1, of: name)
            }
        }
        return MigrationOutcome(from: found, to: migrations.count, backup: backup)
    }
    private static func check(_ name: String, _ migrations: [Migration]) throws(RelayError) {
        let isPlain = name.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"):
                true
            default: false
            }
        }
        guard isPlain, 1...64 ~= name.utf8.count else {
            throw RelayError(
                .invalidArgument, "'\(name.prefix(80))' names no tables: use [A-Za-z0-9_-], 1 to 64 of them")
        }
        var seen: Set<String> = []
        for migration in migrations where !seen.insert(migration.name).inserted {
            throw RelayError(.invalidArgument, "\(name) has two migrations named '\(migration.name)': rename one")
        }
    }
}

extension UnitOfWork {
    /// How many steps were done. Throws `SchemaMismatch` if they are not the first of these.
    fileprivate mutating func version(of name: String, _ migrations: [Migration]) throws -> Int {
        var done: [String] = []
        try ownRows(MigrationVersion.query, [.text(name)]) { done.append($0.text("step")) }
        return try MigrationVersion.check(done, name, migrations)
    }
    fileprivate mutating func note(_ step: String, _ version: Int, of name: String) throws {
        try ownRows(
            "INSERT INTO relay_migrations (name, version, step, time) VALUES (?, ?, ?, ?)",
            [.text(name), SQLValue(version), .text(step), SQLValue(Timestamp.now)]
        ) { _ in }
    }
    /// Whether there is nothing yet that a backup could bring back.
    fileprivate mutating func hasNoTables() throws -> Bool {
        var isEmpty = true
        try ownRows(
            """
            SELECT 1 FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'relay\\_%' ESCAPE '\\'
                AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
            UNION ALL SELECT 1 FROM relay_events LIMIT 1
            """, []
        ) { _ in isEmpty = false }
        return isEmpty
    }
}

/// How many steps of a set of tables were done.
private enum MigrationVersion {
    static let query = "SELECT step FROM relay_migrations WHERE name = ? ORDER BY version"

    /// Throws `SchemaMismatch` if they are not the first of these.
    static func check(_ done: [String], _ name: String, _ migrations: [Migration]) throws(RelayError) -> Int {
        if done.count > migrations.count {
            throw RelayError(
                .schemaMismatch,
                "the tables of '\(name)' have version \(done.count), and this program knows versions up to "
                    + "\(migrations.count): use the program that wrote them, or a newer one",
                cause: UnfitJournal.newer)
        }
        for (number, step) in done.enumerated() where step != migrations[number].name {
            throw RelayError(
                .schemaMismatch,
                "step \(number + 1) of the tables of '\(name)' was '\(step)', and is '\(migrations[number].name)' in this "
                    + "program: a step that was done never changes; add a further one behind it",
                cause: UnfitJournal.newer)
        }
        return done.count
    }
}

extension JournalStorage {
    /// The names of the steps that were done, in order: as of between two groups.
    fileprivate func migrationsDone(of name: String) async throws -> [String] {
        if let failure = writer.failure { throw JournalEngine.unavailable(writer.path, failure) }
        return try await withCheckedThrowingContinuation { continuation in
            let isTaken = writer.submit(
                .call { engine in
                    var done: [String] = []
                    do throws(SQLiteError) {
                        try engine.database.prepare(MigrationVersion.query).rows([.text(name)]) {
                            done.append($0.text("step"))
                        }
                        continuation.resume(returning: done)
                    } catch {
                        continuation.resume(throwing: engine.consequence(ofOwn: error))
                    }
                })
            if !isTaken { continuation.resume(throwing: writer.closed()) }
        }
    }
}
