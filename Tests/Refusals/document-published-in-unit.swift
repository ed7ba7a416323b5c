// expect: a document is set, not published: unit.set
import RelayCore
import RelayJournal
struct Mine: DomainDocument {
    enum Interface: EventInterface {
        static let name = "org.example.Mine1"
        static var contract: Contract<Self> { Mine.self }
    }
    var text: String
    static let initial = Self(text: "")
}
func set(_ service: EventService) async throws {
    try await service.unitOfWork { unit in try unit.publish(Mine.initial) }
}
