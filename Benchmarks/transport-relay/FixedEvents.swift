import RelayCore

/// Eight words by name.
struct Fixed64<I: EventInterface>: MeasuredEvent, FixedLayoutEvent where I.Durability == Volatile {
    typealias Interface = I
    static var name: String { "Fixed64" }
    var a: UInt64 = 0, b: UInt64 = 0, c: UInt64 = 0, d: UInt64 = 0, e: UInt64 = 0, f: UInt64 = 0, g: UInt64 = 0,
        h: UInt64 = 0
}
/// More of them, as an array.
struct FixedWords<I: EventInterface, let count: Int>: MeasuredEvent, FixedLayoutEvent where I.Durability == Volatile {
    typealias Interface = I
    static var name: String { "Fixed\(8 * count)" }
    var words = FixedArray<count, UInt64>(repeating: 0)
}
