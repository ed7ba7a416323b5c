import RelayCore

/// The journal's own tables.
enum JournalSchema {
    /// In the file's header, where file(1) and others look: "RelJ".
    static let applicationID: Int64 = 0x5265_6C4A
    /// The same of the form before this one, "RlyJ", which is refused.
    static let formerApplicationID: Int64 = 0x526C_794A
    /// Of the tables below.
    static let version = 1
    static let statements = """
        CREATE TABLE relay_interfaces (
            id INTEGER PRIMARY KEY,
            name TEXT NOT NULL UNIQUE,
            sequence INTEGER NOT NULL,   -- of the last event
            events INTEGER NOT NULL,     -- how many are kept: those up to the last, without a hole but relay_gaps
            bytes INTEGER NOT NULL,      -- of their bodies together
            tail INTEGER NOT NULL        -- the place in relay_bodies behind all of its long bodies
        );
        CREATE TABLE relay_runs (        -- of the service, by rising rowid
            interface INTEGER NOT NULL REFERENCES relay_interfaces,
            epoch INTEGER NOT NULL,      -- 64 bits, without a sign
            first INTEGER NOT NULL,      -- sequence of its first event, whether there was one or not
            open INTEGER NOT NULL        -- 1: a mirror's, whose origin may have more of the run
        );
        CREATE INDEX relay_runs_by_epoch ON relay_runs (interface, epoch);
        CREATE INDEX relay_runs_by_first ON relay_runs (interface, first);
        CREATE TABLE relay_names (
            interface INTEGER NOT NULL REFERENCES relay_interfaces,
            name TEXT NOT NULL,
            last INTEGER NOT NULL,       -- sequence of its last event
            pruned INTEGER NOT NULL,     -- highest sequence of it that was removed
            PRIMARY KEY (interface, name)
        ) WITHOUT ROWID;
        CREATE TABLE relay_schemas (
            number INTEGER NOT NULL,     -- of its interface: one schema. The highest of a name is the present one; from
                                         -- 2^31 on of no event
            interface INTEGER NOT NULL REFERENCES relay_interfaces,
            name TEXT NOT NULL,
            fields TEXT NOT NULL         -- name:shape lines, in order
        );
        CREATE TABLE relay_events (
            interface INTEGER NOT NULL,
            sequence INTEGER NOT NULL,
            schema INTEGER NOT NULL,     -- which says the event's name, too
            time INTEGER NOT NULL,       -- when it was published: microseconds since 1970, UTC
            place INTEGER,               -- where in relay_bodies the beginning of a long body is, in bytes from 0
            size INTEGER,                -- how many bytes are there
            body BLOB NOT NULL,          -- a D-Bus signal's whole body, little-endian: the fields, then the stamp
            PRIMARY KEY (interface, sequence)
        ) WITHOUT ROWID;
        CREATE TABLE relay_bodies (      -- long bodies, one behind the other, so that pages are filled
            id INTEGER PRIMARY KEY,      -- interface * 2^43 + place / 4056
            body BLOB NOT NULL           -- of 4056 bytes
        );
        CREATE TABLE relay_gaps (        -- sequences that this journal never had, though it has later ones
            interface INTEGER NOT NULL REFERENCES relay_interfaces,
            last INTEGER NOT NULL,
            first INTEGER NOT NULL,
            PRIMARY KEY (interface, last)
        ) WITHOUT ROWID;
        CREATE TABLE relay_documents (   -- the last entry of each, whatever retention has removed
            interface INTEGER NOT NULL REFERENCES relay_interfaces,
            name TEXT NOT NULL,
            sequence INTEGER NOT NULL,
            schema INTEGER NOT NULL,
            body BLOB NOT NULL,          -- as in relay_events, in one row; empty: a replica does not know it
            known INTEGER NOT NULL DEFAULT 0,    -- of a replica: up to here there is no later entry at the origin
            PRIMARY KEY (interface, name)
        );
        CREATE TABLE relay_replica (     -- has a row if the journal is a mirror's
            id INTEGER PRIMARY KEY CHECK (id = 1)
        );
        CREATE TABLE relay_mirror_states (   -- of a replica: what its mirror keeps in the transaction of each change
            interface INTEGER PRIMARY KEY REFERENCES relay_interfaces,
            state BLOB NOT NULL
        );
        CREATE TABLE relay_clock (       -- how much time has passed, as far as is certain; in microseconds
            id INTEGER PRIMARY KEY CHECK (id = 1),
            elapsed INTEGER NOT NULL,    -- in the journal's life
            boot TEXT NOT NULL,          -- the machine's last boot that was seen
            boot_elapsed INTEGER NOT NULL,   -- what `elapsed` was at its beginning
            uptime INTEGER NOT NULL,     -- since that boot, when `elapsed` was noted
            steps_since INTEGER NOT NULL,    -- the uptime since which the system's clock has kept step with it
            offset INTEGER NOT NULL      -- how far the two are apart
        );
        CREATE TABLE relay_ages (        -- events up to this one were published before this moment
            interface INTEGER NOT NULL REFERENCES relay_interfaces,
            sequence INTEGER NOT NULL,
            elapsed INTEGER NOT NULL,    -- as in relay_clock
            time INTEGER NOT NULL,       -- microseconds since 1970, if that is known
            trust INTEGER NOT NULL,      -- 0: it is not; 1: as far as the clock kept step; 2: it was synchronised
            PRIMARY KEY (interface, sequence)
        ) WITHOUT ROWID;
        CREATE TABLE relay_migrations (  -- of the domain's tables: what was done
            name TEXT NOT NULL,          -- of a set of tables
            version INTEGER NOT NULL,    -- from 1
            step TEXT NOT NULL,
            time INTEGER NOT NULL,       -- microseconds since 1970
            PRIMARY KEY (name, version)
        ) WITHOUT ROWID;
        CREATE TABLE relay_replies (     -- to commands with an idempotency key, from the oldest
            number INTEGER PRIMARY KEY,
            user INTEGER NOT NULL,       -- the caller's
            interface TEXT NOT NULL,
            command TEXT NOT NULL,
            key TEXT NOT NULL,
            arguments INTEGER NOT NULL,  -- a hash of the command's other fields' encoding
            cost INTEGER NOT NULL,       -- bytes that it counts for
            elapsed INTEGER NOT NULL,    -- as in relay_clock
            fields TEXT NOT NULL,        -- the reply's, as in relay_schemas
            reply BLOB NOT NULL          -- its D-Bus body, little-endian
        );
        CREATE UNIQUE INDEX relay_replies_by_key ON relay_replies (user, interface, command, key);
        CREATE INDEX relay_replies_by_user ON relay_replies (user);
        CREATE TABLE relay_reply_costs ( -- of each user's replies together; of all users', where user is -1
            user INTEGER PRIMARY KEY,
            cost INTEGER NOT NULL
        );
        CREATE INDEX relay_reply_costs_by_cost ON relay_reply_costs (cost);
        CREATE TABLE relay_forgotten (   -- of the kept replies to submissions that were removed
            interface TEXT NOT NULL,
            command TEXT NOT NULL,
            sequence INTEGER NOT NULL,   -- the highest of a version in one of them
            PRIMARY KEY (interface, command)
        ) WITHOUT ROWID;
        CREATE TABLE relay_consumers (   -- how far what this service follows of others was accounted for
            name TEXT PRIMARY KEY,       -- of a consumer
            position TEXT NOT NULL       -- as in a cursor's file
        ) WITHOUT ROWID;
        """
    /// The names of the tables, as the statements above have them.
    static let tables: [String] = statements.split(separator: "\n").compactMap { line in
        let words = line.split(separator: " ")
        return words.starts(with: ["CREATE", "TABLE"]) && words.count > 2 ? String(words[2]) : nil
    }
    /// A condition on a name, as SQLite and the authorizer compare them: whether it is one of the journal's.
    static let isOurs = "LIKE 'relay@_%' ESCAPE '@'"

    /// A row of `sqlite_master` about one of the journal's tables. SQLite keeps the text of the statement that made it.
    struct Object: Hashable {
        let type, name, table, sql: String
    }
    /// What there is of the journal's tables, their indexes and triggers among it, or has a name of its kind.
    static func objects(of database: Database) throws(SQLiteError) -> [Object] {
        var objects: [Object] = []
        try database.prepare(
            "SELECT type, name, tbl_name, coalesce(sql, '') FROM sqlite_master WHERE name \(isOurs) OR tbl_name \(isOurs) "
                + "ORDER BY type DESC, name"
        ).rows([]) { objects.append(Object(type: $0.text(0), name: $0.text(1), table: $0.text(2), sql: $0.text(3))) }
        return objects
    }
    /// What the statements make, each by SQLite itself.
    static func objects() throws(SQLiteError) -> [Object] {
        let database = try Database(":memory:", isReadOnly: false, vfs: nil)
        try make(in: database)
        return try objects(of: database)
    }

    // MARK: What is not the journal's

    /// Tables that would hide a function of SQLite's, in a schema of a connection's: SQLite finds a table before the
    /// function of its name, by which a pragma is read, and this module would read the table.
    static func shadows(in schema: String, of database: Database) throws(SQLiteError) -> [String] {
        try database.texts(
            "SELECT name || ' would hide a function of SQLite''s' FROM \(schema).sqlite_master "
                + "WHERE type IN ('table', 'view') AND name LIKE 'pragma@_%' ESCAPE '@'")
    }
    /// What is not the journal's and yet has a name of its kind. A full-text table named "relay" has parts whose names
    /// begin as the journal's do.
    static func claims(in schema: String, of database: Database) throws(SQLiteError) -> [String] {
        let own = schema == "main" ? tables.map { "'\($0)'" }.joined(separator: ", ") : ""
        return try database.texts(
            "SELECT name || ' is no table of the journal''s' FROM \(schema).sqlite_master "
                + "WHERE type IN ('table', 'view') AND (name \(isOurs) OR name LIKE 'relay') "
                + "AND lower(name) NOT IN (\(own))")
    }
    /// The domain's foreign keys to the journal's tables: each row that the journal changes would look for rows that
    /// refer to it. Where there are `shadows`, they are no answer.
    static func references(in schema: String, of database: Database) throws(SQLiteError) -> [String] {
        try database.texts(
            """
            SELECT t.name || ' has a foreign key to ' || f."table" FROM \(schema).sqlite_master AS t,
                pragma_foreign_key_list(t.name, '\(schema)') AS f
            WHERE t.type = 'table' AND t.name NOT \(isOurs) AND f."table" \(isOurs)
            """)
    }

    /// Makes the tables of a new file, in one transaction.
    static func make(in database: Database) throws(SQLiteError) {
        try database.execute("BEGIN IMMEDIATE")
        do {
            try database.execute(statements)
            try database.execute(
                "PRAGMA application_id = \(applicationID); PRAGMA user_version = \(version); COMMIT")
        } catch {
            if database.isInTransaction { try? database.execute("ROLLBACK") }
            throw error
        }
    }
}
