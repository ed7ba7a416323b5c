import RelayCore
import Synchronization

#if TSAN
    /// See there: ThreadSanitizer does not know Synchronization's.
    typealias Mutex = SanitizedMutex
#endif

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

/// A list that several threads write.
final class Log<Value: Sendable>: Sendable {
    private let state = Mutex<[Value]>([])
    func add(_ value: Value) { state.withLock { $0.append(value) } }
    var values: [Value] { state.withLock { $0 } }
    var count: Int { state.withLock { $0.count } }
}

/// Holds a subscription for its own handler.
final class Holder<Value: Sendable>: Sendable {
    private let state = Mutex<Value?>(nil)
    func hold(_ value: Value?) {
        let old = state.withLock { held in
            defer { held = value }
            return held
        }
        withExtendedLifetime(old) {}
    }
    var value: Value? { state.withLock { $0 } }
}

/// xorshift64*: deterministic, its seed is printed by the tests that fail.
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64
    init(seed: UInt64) { state = seed | 1 }
    mutating func next() -> UInt64 {
        state ^= state >> 12
        state ^= state << 25
        state ^= state >> 27
        return state &* 2_685_821_657_736_338_717
    }
}

func stamp(_ sequence: UInt64, epoch: UInt64 = 1) -> Stamp {
    Stamp(epoch: epoch, sequence: sequence, previous: 0, publishedAt: Timestamp(microseconds: 0))
}

extension EventStream {
    /// The next so many deliveries, as text: `4`, `gap 1...3 (3, overflow)`, `end`.
    func take(_ count: Int) async -> [String] {
        var texts: [String] = []
        let iterator = makeAsyncIterator()
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
func text(_ gap: Gap) -> String {
    "gap \(gap.sequences) (\(gap.count.map { "\($0)" } ?? "?"), \(gap.reason.rawValue))"
}
