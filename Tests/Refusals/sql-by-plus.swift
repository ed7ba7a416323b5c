// expect: a statement is SQL: write it as a literal
// A text that is put together at run time is no statement: a value of others would become part of it.
import RelayCore
import RelayJournal
func find(_ journal: EventJournal, _ title: String) async throws {
    try await journal.unitOfWork { unit in
        let text = "DELETE FROM jobs WHERE title = '" + title + "'"
        try unit.execute(text)
    }
}
