import Analytics
public import RelayCore

/// The service's side: counts, and publishes each count.
public actor UseCounter {
    private var counts: [String: Int64] = [:]
    private let service: EventService

    public init(_ service: EventService) {
        self.service = service
        service.handle(NoteUse.self) { [weak self] note, _ in try await self?.count(note.what) }
    }
    private func count(_ what: String) throws {
        let count = counts[what, default: 0] + 1
        counts[what] = count
        try service.publish(UseCounted(what: what, count: count))
    }
}
