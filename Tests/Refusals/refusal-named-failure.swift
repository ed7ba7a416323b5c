// expect: type 'Shut' does not conform to protocol 'Command'
// Refusals are declared as Refusal. Under any other name they would be no refusals of the command.
import RelayCore
enum Shop1: EventInterface {
    static let name = "org.example.Shop1"
    static var contract: Contract<Self> { Shut.self }
}
struct Shut: Command {
    typealias Interface = Shop1
    var door: Int32
    enum Failure: String, CommandRefusal { case closed = "Closed" }
}
