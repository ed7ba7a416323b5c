public import RelayJournal
public import Tracks

/// Tracks in SQLite, in the journal's own file.
extension UnitOfWork: TrackUnit {
    public mutating func nextTrackID() throws -> Int64 {
        try query("SELECT COALESCE(MAX(id), 0) + 1 AS next FROM tracks") { row in try row["next"] }[0]
    }
    public mutating func insert(_ track: TrackSummary) throws {
        try execute(
            "INSERT INTO tracks VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            [
                SQLValue(track.trackID), SQLValue(track.name), SQLValue(track.pointCount),
                SQLValue(track.distanceMetres), SQLValue(track.ascentMetres), SQLValue(track.durationSeconds),
                SQLValue(track.southDegrees), SQLValue(track.westDegrees), SQLValue(track.northDegrees),
                SQLValue(track.eastDegrees),
            ])
    }
    public mutating func name(of trackID: Int64) throws -> String? {
        let names: [String] = try query("SELECT name FROM tracks WHERE id = ?", [SQLValue(trackID)]) { row in
            try row["name"]
        }
        return names.first
    }
    public mutating func setName(of trackID: Int64, to name: String) throws {
        try execute("UPDATE tracks SET name = ? WHERE id = ?", [SQLValue(name), SQLValue(trackID)])
    }
}

enum TrackTable {
    static let migration = Migration(
        "tracks",
        """
        CREATE TABLE tracks (
            id INTEGER PRIMARY KEY, name TEXT NOT NULL, points INTEGER NOT NULL, distance REAL NOT NULL,
            ascent REAL, duration REAL, south REAL NOT NULL, west REAL NOT NULL, north REAL NOT NULL,
            east REAL NOT NULL)
        """)

    static func all(_ snapshot: inout JournalSnapshot) throws -> [TrackSummary] {
        try snapshot.query("SELECT * FROM tracks ORDER BY id") { row in
            TrackSummary(
                trackID: try row["id"], name: try row["name"], pointCount: try row["points"],
                distanceMetres: try row["distance"], ascentMetres: try row["ascent"],
                durationSeconds: try row["duration"], southDegrees: try row["south"], westDegrees: try row["west"],
                northDegrees: try row["north"], eastDegrees: try row["east"])
        }
    }
}
