import Glibc
import RelayCore

enum RingBench1: EventInterface {
    static let name = "org.example.RingBench1"
    static let durability = Volatile()
    static var contract: Contract<Self> { Tick.self }
}
/// 64 bytes, all of them written by the publisher and summed up by the receiver.
struct Tick: FixedLayoutEvent {
    typealias Interface = RingBench1
    var sentAt: UInt64
    var a: UInt64, b: UInt64, c: UInt64, d: UInt64, e: UInt64, f: UInt64
    var sum: UInt64

    @inline(__always) init(_ number: UInt64, sentAt: UInt64) {
        self.sentAt = sentAt
        (a, b, c, d, e, f) = (number, number &+ 1, number &+ 2, number &+ 3, number &+ 4, number &+ 5)
        sum = sentAt &+ a &+ b &+ c &+ d &+ e &+ f
    }
    @inline(__always) var isWhole: Bool { sentAt &+ a &+ b &+ c &+ d &+ e &+ f == sum }
}
