import CTransportSupport
import RelayCore

/// An array of bytes, coded.
struct Block<I: EventInterface>: MeasuredEvent where I.Durability == Volatile {
    typealias Interface = I
    static var name: String { "Block" }
    var bytes: [UInt8]

    init() { bytes = [UInt8](repeating: 0, count: 4_096) }
    // A new array each time, as whoever publishes new data has one.
    mutating func fill(_ number: UInt64, _ sentAt: UInt64) {
        bytes = [UInt8](unsafeUninitializedCapacity: 4_096) { room, count in
            transport_fill(room.baseAddress, 4_096, number, sentAt)
            count = 4_096
        }
    }
    func take(_ run: UnsafeMutablePointer<transport_run>) -> Bool {
        guard bytes.count == 4_096 else { transport_fail("Block", "\(bytes.count) bytes") }
        return bytes.withUnsafeBytes { transport_take(run, $0.baseAddress) }
    }
}

/// An ordinary Codable event, of 64 bytes in the wire encoding.
struct Reading<I: EventInterface>: MeasuredEvent where I.Durability == Volatile {
    typealias Interface = I
    static var name: String { "Reading" }
    private static var expected: String { "boiler/pressure" }
    var number: UInt64 = 0
    var sentAt: UInt64 = 0
    var value = 0.0
    var minimum: Int64 = 0
    var maximum: Int64 = 0
    var kind: Int32 = 0
    var place = ""

    init() {}
    mutating func fill(_ number: UInt64, _ sentAt: UInt64) {
        (self.number, self.sentAt, value) = (number, sentAt, Double(number & 0xFFFF))
        (minimum, maximum) = (Int64(truncatingIfNeeded: number), Int64(truncatingIfNeeded: number &+ 1))
        (kind, place) = (Int32(truncatingIfNeeded: number), Self.expected)
    }
    func take(_ run: UnsafeMutablePointer<transport_run>) -> Bool {
        let isWhole =
            value == Double(number & 0xFFFF) && minimum == Int64(truncatingIfNeeded: number)
            && maximum == Int64(truncatingIfNeeded: number &+ 1) && kind == Int32(truncatingIfNeeded: number)
            && place == Self.expected
        return transport_take_checked(run, number, sentAt, isWhole)
    }
}
