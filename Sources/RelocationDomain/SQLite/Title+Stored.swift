import RelayCore

extension Title {
    /// Somebody may have edited the file. The message has no title in it: it may be logged.
    init(_ stored: String, of table: String, _ id: Int64) throws {
        guard let title = Title(stored) else {
            throw RelayError(.internalFailure, "table \(table), row \(id): what it has as its title is none")
        }
        self = title
    }
}
