// expect: value of type 'RefusalEvents' has no member 'execute'
import RelayCore
import RelayJournal
struct Refused: Error {}
func refuse(_ journal: EventJournal) async throws {
    try await journal.unitOfWork { _ in
        throw Refused()
    } onRefusal: { (_: Refused, events) in
        try events.execute("DELETE FROM jobs")
    }
}
