import RelayJournal

/// The first step is that of the first version's service.
let migrations = [
    Migration("places", "CREATE TABLE taken (place INTEGER PRIMARY KEY)"),
    Migration("floors") { unit in
        try unit.execute(
            """
            CREATE TABLE places (
                floor INTEGER NOT NULL, place INTEGER NOT NULL, plate TEXT, isClosed INTEGER NOT NULL DEFAULT FALSE)
            """)
        for (floor, place) in (1...3).flatMap({ floor in (1...20).map { (floor, $0) } }) {
            try unit.execute("INSERT INTO places (floor, place) VALUES (\(floor), \(place))")
        }
        try unit.execute(
            "UPDATE places SET plate = 'unknown' WHERE floor * 100 + place IN (SELECT place FROM taken)")
        try unit.execute("DROP TABLE taken")
    },
]
