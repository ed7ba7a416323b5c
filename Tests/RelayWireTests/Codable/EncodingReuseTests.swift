import Synchronization
import TestTraits
import Testing
import WireSupport

@testable import RelayWire

/// An encoder writes one event after the other, and its containers serve again.
@Suite("Encoders that serve many values", .tags(.g2, .g8)) struct EncodingReuseTests {
    typealias Plain = DecodingReuseTests.Plain

    private static func encoded<E: Codable>(_ value: E, _ codec: WireCodec<E>) -> Result<[UInt8], RelayError> {
        Result { () throws(RelayError) in
            var writer = WireWriter()
            do { try codec.encode(value, into: &writer) } catch {
                throw error as? RelayError ?? RelayError(.internalFailure, "\(error)")
            }
            return writer.bytes
        }
    }
    private static func shown<E: Codable>(_ value: E, _ codec: WireCodec<E>) throws -> [UInt8] {
        var shown: [UInt8] = []
        let isShown = try codec.withFields(of: value) { fields in
            shown = Array(fields)
            return true
        }
        #expect(isShown)
        return shown
    }

    @Test(
        "random events are written as by a new encoder, shown as they are written, and so is the next after a refusal")
    func random() throws {
        let codec = try WireCodec(event: Plain.self)
        var random = SeededGenerator(seed: 11)
        for round in 0..<TestForm.rounds(2_000, soak: 50_000) {
            var event = Plain.random(&random)
            // Of a dictionary, each copy has an order of its own.
            event.byName = [:]
            let fresh = try WireCodec(event: Plain.self)
            let bytes = try Self.encoded(event, codec).get()
            if round % 20 == 0 { #expect(try Self.encoded(event, fresh).get() == bytes) }
            #expect(try Self.shown(event, codec) == bytes)
            #expect(try bytes.withUnsafeBytes { try codec.decode($0) } == event)
            if random.chance(4) {
                event.note = "a\0"
                let error = #expect(throws: RelayError.self) { try Self.encoded(event, codec).get() }
                #expect(error?.code == .invalidArgument && error?.message.contains("Plain.note") == true)
                #expect(throws: RelayError.self) { try Self.shown(event, codec) }
            }
        }
    }
    @Test("where fields begin behind others, they are aligned from the message's first byte") func behind() throws {
        let codec = try WireCodec(event: Plain.self)
        var random = SeededGenerator(seed: 12)
        var event = Plain.random(&random)
        event.byName = [:]
        let bytes = try Self.encoded(event, codec).get()
        for offset in [0, 8, 16, 4_096] {
            var writer = WireWriter()
            writer.append([UInt8](repeating: 1, count: offset))
            try codec.encode(event, into: &writer)
            #expect(Array(writer.bytes.dropFirst(offset)) == bytes)
        }
    }
    @Test("a large event is written, and small ones after it") func large() throws {
        struct Text: Codable, Equatable { var text: String, bytes: [UInt8] }
        let codec = try WireCodec(Text.self)
        for size in [1, 300, 70_000, 3, 1 << 20, 0] {
            let value = Text(text: String(repeating: "x", count: size), bytes: [UInt8](repeating: 7, count: size))
            let bytes = try Self.shown(value, codec)
            #expect(try bytes.withUnsafeBytes { try codec.decode($0) } == value)
            #expect(try Self.encoded(value, codec).get() == bytes)
        }
    }
    @Test("threads that encode at once do not meet") func threads() async throws {
        let codec = try WireCodec(event: Plain.self)
        await withTaskGroup { group in
            for task: UInt64 in 0..<4 {
                group.addTask {
                    var random = SeededGenerator(seed: task)
                    for _ in 0..<500 {
                        let event = Plain.random(&random)
                        let back = try? Self.shown(event, codec).withUnsafeBytes { try codec.decode($0) }
                        #expect(back == event)
                    }
                }
            }
        }
    }

    /// What values have kept of their encoders.
    fileprivate final class Kept: Sendable {
        struct State {
            nonisolated(unsafe) var containers: [KeyedEncodingContainer<Keeper.CodingKeys>] = []
            nonisolated(unsafe) var encoders: [any Encoder] = []
        }
        let state = Mutex(State())
    }
    fileprivate struct Keeper: Codable {
        enum CodingKeys: CodingKey { case number, note }
        var number: Int64, note: String?
        var kept: Kept?

        init(number: Int64, kept: Kept) { (self.number, self.kept) = (number, kept) }
        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            number = try container.decode(Int64.self, forKey: .number)
            note = try container.decodeIfPresent(String.self, forKey: .note)
        }
        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(number, forKey: .number)
            guard let kept else { return try container.encodeIfPresent(note, forKey: .note) }
            try kept.write()
            let own = container
            kept.state.withLock { state in
                state.containers.append(own)
                state.encoders.append(encoder)
            }
        }
    }
    @Test("what a value keeps of its encoder writes nothing into later values, and says so") func kept() throws {
        let kept = Kept()
        do {
            let codec = try WireCodec(Keeper.self)
            for number: Int64 in 1...5 {
                let bytes = try Self.encoded(Keeper(number: number, kept: kept), codec).get()
                let value = try bytes.withUnsafeBytes { try codec.decode($0) }
                #expect(value.number == number && value.note == nil)
                try kept.write()
            }
        }
        // The codec has gone.
        try kept.write()
        #expect(kept.state.withLock { $0.containers.count } == 5)
    }

    /// While it is written, writes another one.
    private struct Outer: Codable, Equatable {
        enum CodingKeys: CodingKey { case number, text }
        var number: Int64, text: String

        init(number: Int64, text: String) { (self.number, self.text) = (number, text) }
        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            number = try container.decode(Int64.self, forKey: .number)
            text = try container.decode(String.self, forKey: .text)
        }
        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(number, forKey: .number)
            if number > 0, let codec = Self.codec.withLock(\.self) {
                let inner = try EncodingReuseTests.shown(Outer(number: number - 1, text: text), codec)
                try container.encode("\(inner.count)", forKey: .text)
            } else {
                try container.encode(text, forKey: .text)
            }
        }
        static let codec = Mutex<WireCodec<Outer>?>(nil)
    }
    @Test("an encode(to:) may encode values of its own type") func within() throws {
        let codec = try WireCodec(Outer.self)
        Outer.codec.withLock { $0 = codec }
        defer { Outer.codec.withLock { $0 = nil } }
        for _ in 0..<3 {
            let bytes = try Self.shown(Outer(number: 3, text: "text"), codec)
            // The number, the text's length, its one or two digits and a NUL.
            #expect(try bytes.withUnsafeBytes { try codec.decode($0) } == Outer(number: 3, text: "15"))
        }
    }
}

extension EncodingReuseTests.Kept {
    /// Writes with everything that was kept: nothing of it is taken.
    fileprivate func write() throws {
        let (containers, encoders) = state.withLock { state in
            nonisolated(unsafe) let (containers, encoders) = (state.containers, state.encoders)
            return (containers, encoders)
        }
        for var container in containers {
            #expect(throws: RelayError.self) { try container.encode("late", forKey: .note) }
            #expect(throws: RelayError.self) { try container.encode(5, forKey: .number) }
            var nested = container.nestedContainer(keyedBy: EncodingReuseTests.Keeper.CodingKeys.self, forKey: .note)
            #expect(throws: RelayError.self) { try nested.encode("late", forKey: .note) }
        }
        for encoder in encoders {
            var keyed = encoder.container(keyedBy: EncodingReuseTests.Keeper.CodingKeys.self)
            #expect(throws: RelayError.self) { try keyed.encode("late", forKey: .note) }
            var single = encoder.singleValueContainer()
            #expect(throws: RelayError.self) { try single.encode("late") }
            var unkeyed = encoder.unkeyedContainer()
            #expect(throws: RelayError.self) { try unkeyed.encode("late") }
        }
    }
}
