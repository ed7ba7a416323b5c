import Foundation
import RelayFoundation
import RelayWire
import Testing

/// Foundation's values in events, where this library is linked.
@Suite("Dates, URLs and decimal numbers on the wire") struct WireFormTests {
    struct Order: Codable, Equatable {
        var placed: Date, paid: Date?, days: [Date], byDay: [String: Date]
        var page: URL, mirrors: [URL?]
        var price: Decimal, parts: [Decimal]
        var id: UUID
    }
    private func returned<Value: Codable>(_ value: Value) throws -> Value {
        let codec = try WireCodec(Value.self)
        var writer = WireWriter()
        try codec.encode(value, into: &writer)
        return try writer.withUnsafeBytes { bytes in Result { try codec.decode(bytes) } }.get()
    }
    private func read<Value: Codable>(_ type: Value.Type, _ values: [DBusValue]) throws -> Value {
        let codec = try WireCodec(type)
        var writer = WireWriter()
        try DBusValue.encode(values, into: &writer)
        return try writer.withUnsafeBytes { bytes in Result { try codec.decode(bytes) } }.get()
    }
    private func day(_ seconds: Double) -> Date { Date(timeIntervalSince1970: seconds) }

    @Test("travel as a signed number of microseconds, a text and a text") func shapes() throws {
        #expect(
            try WireSchema(of: Order.self).fields.map(\.description) == [
                "placed:x", "paid:?x", "days:ax", "byDay:a{sx}", "page:s", "mirrors:a?s", "price:s", "parts:as", "id:s",
            ])
    }
    @Test("come back as they were, wherever they are nested") func roundTrip() throws {
        let order = Order(
            placed: day(1_795_339_800.123456), paid: day(-86_400.5), days: [day(0), day(-1)], byDay: ["a": day(1)],
            page: try #require(URL(string: "https://example.org/a?b=c#d")),
            mirrors: [nil, URL(fileURLWithPath: "/tmp/x")], price: try #require(Decimal(string: "-12.50")),
            parts: [0, Decimal.greatestFiniteMagnitude, try #require(Decimal(string: "0.000000000000000001"))],
            id: UUID())
        #expect(try returned(order) == order)
    }
    @Test("a date is rounded to the nearest microsecond, before 1970, too")
    func rounding() throws {
        struct One: Codable { var date: Date }
        func micros(_ date: Date) throws -> [DBusValue] {
            var writer = WireWriter()
            try WireCodec(One.self).encode(One(date: date), into: &writer)
            return try DBusValue.decode(signature: try Signature("x"), body: writer.bytes)
        }
        #expect(try micros(day(0)) == [.int64(0)])
        #expect(try micros(day(-0.000_001)) == [.int64(-1)])
        #expect(try micros(day(1.000_000_6)) == [.int64(1_000_001)])
        #expect(try micros(.distantPast) == [.int64(-62_135_769_600_000_000)])
        for step in 0..<1_000 as Range<Int64> {
            let number = -3_000_000_000_000_000 + step * 7_000_000_000_007
            #expect(try micros(read(One.self, [.int64(number)]).date) == [.int64(number)])
        }
    }
    @Test("what cannot be sent is refused: dates out of range, and a Decimal that is not a number")
    func refused() throws {
        struct One<Value: Codable>: Codable { var value: Value }
        for seconds in [Double.nan, .infinity, -.infinity, 1e300, 1e13, -1e13] {
            let error = #expect(throws: RelayError.self) { try returned(One(value: day(seconds))) }
            #expect(error?.code == .invalidArgument && error?.message.contains("value") == true, "\(seconds)")
        }
        let error = #expect(throws: RelayError.self) { try returned(One(value: Decimal.nan)) }
        #expect(error?.code == .invalidArgument)
    }
    @Test("what is none is refused when it comes", arguments: ["", "1x", "x", "NaN", "1,5", " 1", "1e9999", "٣"])
    func hostile(_ text: String) throws {
        struct One: Codable { var value: Decimal }
        let error = #expect(throws: RelayError.self) { try read(One.self, [.string(text)]) }
        #expect(error?.code == .invalidArgument && error?.message.contains("decimal") == true)
        struct Link: Codable { var url: URL }
        #expect(throws: RelayError.self) { try read(Link.self, [.string("")]) }
        struct Time: Codable { var date: Date }
        #expect(throws: RelayError.self) { try read(Time.self, [.int64(.min)]) }
    }
}
