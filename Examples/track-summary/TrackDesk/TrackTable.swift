public import RelayJournal
public import Tracks

/// Tracks in SQLite, in the journal's own file.
extension UnitOfWork: TrackUnit {
    public mutating func nextTrackID() throws -> Int64 {
        try query("SELECT COALESCE(MAX(id), 0) + 1 FROM tracks", as: Int64.self)[0]
    }
    public mutating func insert(_ track: TrackSummary) throws {
        try execute(
            """
            INSERT INTO tracks VALUES (
                \(track.trackID), \(track.name), \(track.pointCount), \(track.distanceMetres), \(track.ascentMetres),
                \(track.durationSeconds), \(track.southDegrees), \(track.westDegrees), \(track.northDegrees),
                \(track.eastDegrees))
            """)
    }
    public mutating func name(of trackID: Int64) throws -> String? {
        try query("SELECT name FROM tracks WHERE id = \(trackID)", as: String.self).first
    }
    public mutating func setName(of trackID: Int64, to name: String) throws {
        try execute("UPDATE tracks SET name = \(name) WHERE id = \(trackID)")
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
