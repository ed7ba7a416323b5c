import TestTraits
import RelayEvents
import Synchronization

struct DateRange: Sendable, Equatable { var first: Int, last: Int }
enum WindowEvent: Event, Equatable {
    case changeDateRange(DateRange)
    case unselectApplication(Int)
}
struct Numbered: Event, Equatable { var number: Int }
struct Lettered: Event, Equatable { var number: Int }

enum Warehouse1: EventInterface {
    static let name = "org.example.Warehouse1"
    static var contract: Contract<Self> {
        Stored.self
        Taken.self
    }
}
struct Stored: DomainEvent, Equatable {
    typealias Interface = Warehouse1
    var number: Int
}
struct Taken: DomainEvent, Equatable {
    typealias Interface = Warehouse1
    static let name = "Removed"
    var number: Int
}
/// Of the interface, but not in its contract.
struct Unlisted: DomainEvent, Equatable {
    typealias Interface = Warehouse1
    var number: Int
}
enum Elsewhere1: EventInterface {
    static let name = "org.example.Elsewhere1"
    static let durability = Volatile()
    static var contract: Contract<Self> { Moved.self }
}
struct Moved: DomainEvent, Equatable {
    typealias Interface = Elsewhere1
    var number: Int
}

func stamp(_ sequence: UInt64, epoch: UInt64 = 1) -> Stamp {
    Stamp(epoch: epoch, sequence: sequence, previous: 0, publishedAt: Timestamp(microseconds: 0))
}

extension EventStream {
    /// The next so many deliveries, as text: `4`, `gap 1...3 (3, overflow)`, `end`.
    func take(_ count: Int) async -> [String] {
        var texts: [String] = []
        var iterator = makeAsyncIterator()
        for _ in 0..<count {
            switch await iterator.next() {
            case .event(let event as Numbered, _)?: texts.append("\(event.number)")
            case .event(let event, _)?: texts.append("\(event)")
            case .gap(let gap)?: texts.append(text(gap))
            case nil: texts.append("end")
            }
        }
        return texts
    }
}
