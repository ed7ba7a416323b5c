import RelayCore

/// The journal's own statements within a unit: undone and committed with it.
extension JournalEngine {
    /// Runs one, kept prepared by its text.
    func asOwn(_ text: String, _ values: [SQLValue], _ row: (borrowing Row) -> Void) throws {
        if let doom = group.doom { throw doom.own }
        do throws(SQLiteError) {
            if !group.isSaved {
                try sql.save.run()
                group.isSaved = true
            }
            if ownStatements[text] == nil { ownStatements[text] = try database.prepare(text) }
            try ownStatements[text]?.rows(values, row)
        } catch {
            if error.endsTransaction {
                doom(error)
                if let doom = group.doom { throw doom.own }
            }
            throw consequence(ofOwn: error)
        }
    }
}

extension UnitOfWork {
    mutating func ownRows(_ text: String, _ values: [SQLValue], _ row: (borrowing Row) -> Void) throws {
        try engine.asOwn(text, values, row)
    }
}
