import RelayCore
import RelayTestKit
import TestTraits
import Testing

@testable import RelayJournal
@Suite("Values of SQL", .heavy, .tags(.g8)) struct SQLValueTests {
    private enum Priority: Int, SQLStorable { case normal = 1, urgent }
    private enum Place: String, SQLStorable { case attic, cellar }

    /// What comes back of a value that was stored.
    private func stored<Value: SQLStorable & Sendable>(_ value: Value?, _ ledger: Ledger) async throws -> Value? {
        try await ledger.journal.unitOfWork { unit in
            try unit.query("SELECT \(value) AS it") { try $0["it", as: Value?.self] }[0]
        }
    }
    @Test("any integer that fits comes back, up to both ends of its type") func integers() async throws {
        let ledger = try Ledger(TestFolder())
        func check<Value: FixedWidthInteger & SQLStorable & Sendable>(_ type: Value.Type) async throws {
            let largest = Value(clamping: Int64.max)
            for value in [Value.min, 0, 1, largest] {
                #expect(try await stored(value, ledger) == value, "\(Value.self) \(value)")
            }
        }
        try await check(Int.self)
        try await check(Int8.self)
        try await check(Int16.self)
        try await check(Int32.self)
        try await check(Int64.self)
        try await check(UInt.self)
        try await check(UInt8.self)
        try await check(UInt16.self)
        try await check(UInt32.self)
        try await check(UInt64.self)
    }
    @Test("what does not fit is an error, and no trap") func unfit() {
        #expect(throws: RelayError.self) { try SQLValue(UInt64.max) }
        #expect(throws: RelayError.self) { try SQLValue(UInt(Int64.max) + 1) }
        #expect(throws: RelayError.self) { try SQLValue(Double.nan) }
        #expect(throws: RelayError.self) { try SQLValue(-Float.nan) }
        #expect(throws: RelayError.self) { try SQLValue(Timestamp(microseconds: .max)) }
    }
    @Test("an epoch comes back by its bits, and is found by them") func epochs() async throws {
        let ledger = try Ledger(TestFolder())
        for epoch in [0, 1, UInt64(Int64.max), UInt64(Int64.max) + 1, .max] {
            let found: [UInt64] = try await ledger.journal.unitOfWork { unit in
                let bits = SQLValue(bitPattern: epoch)
                return try unit.query("SELECT \(bits) AS epoch WHERE epoch = \(bits)") { row in
                    UInt64(bitPattern: try row["epoch", as: Int64.self])
                }
            }
            #expect(found == [epoch])
        }
        let error = #expect(throws: RelayError.self) { try SQLValue(UInt64.max) }
        #expect(error?.message.contains("SQLValue(bitPattern:)") == true)
    }
    @Test("numbers, texts, bytes, times and raw values come back") func others() async throws {
        let ledger = try Ledger(TestFolder())
        for value in [0.0, -1.5, 2, .infinity, -.infinity, .greatestFiniteMagnitude, .leastNonzeroMagnitude] {
            #expect(try await stored(value, ledger) == value)
        }
        for value in [0 as Float, 0.1, .greatestFiniteMagnitude, -.infinity] {
            #expect(try await stored(value, ledger) == value)
        }
        for value in [true, false] { #expect(try await stored(value, ledger) == value) }
        for value in ["", "Küche", "a\0b"] { #expect(try await stored(value, ledger) == value) }
        for value in [[], [0, 255]] as [[UInt8]] { #expect(try await stored(value, ledger) == value) }
        #expect(try await stored(Timestamp(microseconds: 7), ledger) == Timestamp(microseconds: 7))
        #expect(try await stored(Priority.urgent, ledger) == .urgent)
        #expect(try await stored(Place.cellar, ledger) == .cellar)
    }
    @Test("nil is NULL, and NULL is nil and never a value") func null() async throws {
        let ledger = try Ledger(TestFolder())
        #expect(try await stored(nil as Int?, ledger) == nil)
        #expect(try SQLValue(nil as String?) == .null && SQLValue("x" as String?) == .text("x"))
        try await ledger.journal.unitOfWork { unit in
            _ = try unit.query("SELECT NULL AS it, 1 AS one") { row in
                let (integer, real): (Int?, Double?) = (try row[0], try row[0])
                let (text, truth): (String?, Bool?) = (try row["it"], try row["it"])
                #expect(integer == nil && real == nil && text == nil && truth == nil)
                #expect(row.isNull(0) && row.value(0) == .null && !row.isNull(1))
                let error = #expect(throws: RelayError.self) { let _: Int = try row["it"] }
                #expect(error?.code == .schemaMismatch && error?.message.contains("'it'") == true)
                #expect(throws: RelayError.self) { let _: Bool = try row[0] }
            }
        }
    }
    @Test("columns are found by position and by name, in any case; the context decides whether NULL may be")
    func columns() async throws {
        let ledger = try Ledger(TestFolder())
        try await ledger.journal.unitOfWork { unit in
            try unit.execute("CREATE TABLE box (id INTEGER PRIMARY KEY, label TEXT, note TEXT)")
            try unit.execute("INSERT INTO box VALUES (\(1), \("Kitchen"), \(String?.none))")
            struct Box: Equatable {
                let id: Int64, label: String
                let note: String?
            }
            let boxes = try unit.query("SELECT id, label, note, label AS again FROM box") { row in
                let (count, names) = (row.count, [row.name(3), row.name(4), row.name(-1)])
                #expect(count == 4 && names == ["again", nil, nil])
                // SQLite counts columns in 32 bits.
                let (name, isNull, value) = (row.name(1 << 32), row.isNull(1 << 32), row.value(1 << 32))
                #expect(name == nil && isNull && value == .null)
                let (byPosition, byName, again): (String, String, String) = (
                    try row[1], try row["LABEL"], try row["again"]
                )
                #expect(byPosition == byName && byPosition == again)
                return Box(id: try row["id"], label: try row["label"], note: try row["note"])
            }
            #expect(boxes == [Box(id: 1, label: "Kitchen", note: nil)])
            let ids: [Int64] = try unit.query("SELECT id FROM box") { try $0[0] }
            #expect(ids == [1])
        }
    }
    // The compiler (6.3.1) crashes on a closure that captures a row.
    private func error<Value: SQLStorable>(_ row: borrowing Row, _ column: String, _: Value.Type) -> RelayError? {
        do throws(RelayError) {
            let _: Value? = try row[column]
            return nil
        } catch { return error }
    }
    private func error(_ row: borrowing Row, _ column: Int) -> RelayError? {
        do throws(RelayError) {
            let _: Int? = try row[column]
            return nil
        } catch { return error }
    }
    @Test("what is of another type, out of range, or not there, is an error that names the column, never its value")
    func mismatches() async throws {
        let ledger = try Ledger(TestFolder())
        try await ledger.journal.unitOfWork { unit in
            _ = try unit.query("SELECT 'secret' AS text, 300 AS number, x'00' AS bytes, 1.5 AS real, 2 AS two") { row in
                for (column, error) in [
                    ("text", error(row, "text", Int.self)), ("text", error(row, "text", Double.self)),
                    ("text", error(row, "text", [UInt8].self)), ("text", error(row, "text", Place.self)),
                    ("number", error(row, "number", UInt8.self)), ("number", error(row, "number", Int8.self)),
                    ("number", error(row, "number", Bool.self)), ("number", error(row, "number", String.self)),
                    ("number", error(row, "number", Priority.self)), ("bytes", error(row, "bytes", String.self)),
                    ("real", error(row, "real", Int.self)), ("nowhere", error(row, "nowhere", Int.self)),
                ] as [(String, RelayError?)] {
                    #expect(error?.code == .schemaMismatch)
                    #expect(error?.message.contains(column) == true && error?.message.contains("secret") == false)
                }
                for column in [-1, 5, .max, .min] { #expect(error(row, column) != nil) }
                let (number, priority): (Double, Priority) = (try row["two"], try row["two"])
                #expect(number == 2 && priority == .urgent)
            }
        }
    }
}
