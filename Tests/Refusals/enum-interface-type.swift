// expect: an EnumInterface lists the case of this event
// flags: -warnings-as-errors
import RelayCore
struct Placed: DomainEvent {
    typealias Interface = Mine1
    var number: Int64
}
enum Mine1: EnumInterface {
    case placed(Placed)
    static let name = "org.example.Mine1"
    static var contract: Contract<Self> { Placed.self }
}
