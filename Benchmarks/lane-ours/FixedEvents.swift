import RelayCore

/// Eight words.
struct Words: Codable, BitwiseCopyable, Sendable {
    var a: UInt64 = 0, b: UInt64 = 0, c: UInt64 = 0, d: UInt64 = 0, e: UInt64 = 0, f: UInt64 = 0, g: UInt64 = 0,
        h: UInt64 = 0
}

struct Fixed64<I: EventInterface>: LaneEvent, FixedLayoutEvent where I.Durability == Volatile {
    typealias Interface = I
    static var name: String { "Fixed64" }
    var a: UInt64 = 0, b: UInt64 = 0, c: UInt64 = 0, d: UInt64 = 0, e: UInt64 = 0, f: UInt64 = 0, g: UInt64 = 0,
        h: UInt64 = 0
}
struct Fixed256<I: EventInterface>: LaneEvent, FixedLayoutEvent where I.Durability == Volatile {
    typealias Interface = I
    static var name: String { "Fixed256" }
    var a = Words(), b = Words(), c = Words(), d = Words()
}
struct Fixed1024<I: EventInterface>: LaneEvent, FixedLayoutEvent where I.Durability == Volatile {
    typealias Interface = I
    static var name: String { "Fixed1024" }
    var a = Words(), b = Words(), c = Words(), d = Words(), e = Words(), f = Words(), g = Words(), h = Words()
    var i = Words(), j = Words(), k = Words(), l = Words(), m = Words(), n = Words(), o = Words(), p = Words()
}
