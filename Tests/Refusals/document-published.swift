// expect: a document is set, not published
// flags: -warnings-as-errors
import RelayCore
enum Mine1: EventInterface {
    static let name = "org.example.Mine1"
    static var contract: Contract<Self> { Present.self }
}
struct Present: DomainDocument {
    typealias Interface = Mine1
    var number: Int64
    static let initial = Self(number: 0)
}
func set(_ sink: inout some EventSink) throws { try sink.publish(Present(number: 1)) }
