// expect: a document is set, not published
import RelayCore
enum Mine1: EventInterface {
    static let name = "org.example.Mine1"
    static let durability = Volatile()
    static var contract: Contract<Self> { Mine.self }
}
struct Mine: DomainDocument {
    typealias Interface = Mine1
    var text: String
    static let initial = Self(text: "")
}
func set(_ service: EventService) throws { try service.publish(Mine.initial) }
