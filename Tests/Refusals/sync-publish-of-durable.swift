// expect: 'async' call in a function that does not support concurrency
import RelayCore
enum Kept1: EventInterface {
    static let name = "org.example.Kept1"
    static var contract: Contract<Self> { Kept.self }
}
struct Kept: DomainEvent {
    typealias Interface = Kept1
    var number: Int64
}
func tell(_ service: EventService) throws { try service.publish(Kept(number: 1)) }
