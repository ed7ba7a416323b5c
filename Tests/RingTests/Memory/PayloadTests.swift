import TestTraits
import Testing

@testable import RelayCore
import RelayWire

@Suite("The ring's payloads", .heavy, .tags(.g8)) struct PayloadTests {
    /// How a program decodes what a sender's ring carries of one event.
    private func reading<E: DomainEvent>(_ type: E.Type, of sender: RingEvent, _ fields: [WireField] = []) throws
        -> (UnsafeRawBufferPointer) throws -> E
    {
        let schemas = StreamSchemas([1: EventSchema(event: sender.name, fields: fields)])
        let (decoder, format) = (try EventDecoder(type), try EventFormat(sender, schemas))
        let stamp = Stamp(epoch: 1, sequence: 1, previous: 0, publishedAt: .now)
        return { bytes in
            try withExtendedLifetime(format) {
                try decoder.event(RawEvent(stamp, .passUnretained(format), payload: bytes))
            }
        }
    }
    @Test("raw bytes and the wire encoding come back as they were") func roundTrip() throws {
        let waker = RingWaker()
        let ring = try RingWriter(
            "test", events: [try RingEvent(Sample.self), try RingEvent(Note.self)], epoch: 1, waker: waker)
        var reader = RingReader(try RingArea(receiving: ring.descriptor), after: 0)
        let codec = try WireCodec(event: Note.self)
        let samples = try reading(Sample.self, of: reader.header.events[0])
        let notes = try reading(Note.self, of: reader.header.events[1], codec.schema.fields)
        let sample = Sample(at: 1.5, load: -0.25, cpu: 3, number: .min)
        let note = Note(text: "eins\u{1F4E6}", marks: [1, -2, 3])
        _ = try withUnsafeBytes(of: sample) { try ring.publish(0, $0) }
        var writer = WireWriter()
        try codec.encode(note, into: &writer)
        _ = try writer.withUnsafeBytes { try ring.publish(1, $0) }
        _ = try reader.next()
        #expect(reader.payload.count == 24)
        #expect(try samples(reader.payload) == sample)
        _ = try reader.next()
        #expect(try notes(reader.payload) == note)
        #expect(throws: RelayError.self) { _ = try samples(reader.payload) }
        #expect(throws: RelayError.self) { _ = try notes(UnsafeRawBufferPointer(rebasing: reader.payload.dropLast())) }
        let nothing = UnsafeRawBufferPointer(start: nil, count: 0)
        #expect(throws: RelayError.self) { _ = try samples(nothing) }
        #expect(throws: RelayError.self) { _ = try notes(nothing) }
    }
    struct Sampled<let count: Int, T: FixedLayoutNumber>: FixedLayoutEvent {
        typealias Interface = RingTest1
        static var name: String { "Sampled" }
        var at: UInt64, samples: FixedArray<count, T>
    }
    @Test("an array of fixed length counts in its event's size, and in its fingerprint") func fixedArrays() throws {
        let event = try RingEvent(Sampled<508, UInt64>.self)
        #expect(event.rawSize == 4_072 && event.fingerprint == Fingerprint.of("at:u8,samples:u8*508".utf8))
        let other = [try RingEvent(Sampled<507, UInt64>.self), try RingEvent(Sampled<508, Int64>.self)]
        #expect(!other.map(\.fingerprint).contains(event.fingerprint))
    }
    enum Other {
        struct Sample: FixedLayoutEvent {
            typealias Interface = RingTest1
            var at: Double, load: Float, cpu: Int32, number: Int64
        }
        struct Renamed: FixedLayoutEvent {
            typealias Interface = RingTest1
            static let name = "Sample"
            var at: Double, load: Float, core: UInt32, number: Int64
        }
        struct Moved: FixedLayoutEvent, Equatable {
            typealias Interface = RingTest1
            static let name = "Sample"
            var number: Int64, at: Double
        }
        struct Coded: DomainEvent, Equatable {
            typealias Interface = RingTest1
            static let name = "Sample"
            var at: Double, load: Float, cpu: UInt32, number: Int64
        }
        struct Padded: FixedLayoutEvent {
            typealias Interface = RingTest1
            var cpu: UInt8, at: Double
        }
    }
    @Test("another layout of the same name is read by its fields' names, or refused with the event's")
    func fingerprints() throws {
        let sender = try RingEvent(Sample.self)
        #expect(sender.fingerprint != 0)
        #expect(try RingEvent(Sample.self) == sender)
        let sample = Sample(at: 1.5, load: -0.25, cpu: 3, number: .min)
        try withUnsafeBytes(of: sample) { bytes in
            let coded = try reading(Other.Coded.self, of: sender)(bytes)
            #expect(coded == Other.Coded(at: 1.5, load: -0.25, cpu: 3, number: .min))
            let moved = try reading(Other.Moved.self, of: sender)(bytes)
            #expect(moved == Other.Moved(number: .min, at: 1.5))
            func refusal<E: DomainEvent>(_ type: E.Type) throws -> String {
                let read = try reading(type, of: sender)
                do { _ = try read(bytes) } catch { return "\(error)" }
                return ""
            }
            for text in [try refusal(Other.Sample.self), try refusal(Other.Renamed.self)] {
                #expect(text.contains("Sample") && text.contains("SchemaMismatch"), "\(text)")
            }
        }
        // The other way round: the sender has the wire encoding.
        let codec = try WireCodec(event: Other.Coded.self)
        var writer = WireWriter()
        try codec.encode(Other.Coded(at: 1.5, load: -0.25, cpu: 3, number: .min), into: &writer)
        let read = try reading(Sample.self, of: try RingEvent(Other.Coded.self), codec.schema.fields)
        #expect(try writer.withUnsafeBytes { try read($0) } == sample)
    }
    @Test("a layout tells who does not have the type what the bytes are") func layouts() throws {
        struct Place: Codable, BitwiseCopyable {
            var x: Float, y: Float
        }
        struct Index: RawRepresentable, Codable, BitwiseCopyable {
            var rawValue: UInt16
        }
        struct Nested: FixedLayoutEvent {
            typealias Interface = RingTest1
            var from: Place, cpu: Index, small: Int8, flags: UInt8, spare: UInt32, to: Place, at: UInt64
        }
        struct Single: FixedLayoutEvent {
            typealias Interface = RingTest1
            var at: Double
            init(from decoder: any Decoder) throws { at = try decoder.singleValueContainer().decode(Double.self) }
            func encode(to encoder: any Encoder) throws {
                var container = encoder.singleValueContainer()
                try container.encode(at)
            }
        }
        #expect(try RingEvent(Sample.self).layout == "at:f8,load:f4,cpu:u4,number:i8")
        #expect(
            try RingEvent(Nested.self).layout
                == "from:(x:f4,y:f4),cpu:u2,small:i1,flags:u1,spare:u4,to:(x:f4,y:f4),at:u8"
        )
        #expect(try RingEvent(Single.self).layout == "value:f8")
        #expect(try RingEvent(Note.self).layout.isEmpty)
    }
    @Test("what is not fit to be copied is refused when it is registered") func refusals() throws {
        #expect(throws: RelayError.self) { _ = try RingEvent(Other.Padded.self) }
    }
    @Test("fields that only the sender has are tolerated in the wire encoding") func evolution() throws {
        struct Note: DomainEvent, Equatable {
            typealias Interface = RingTest1
            var marks: [Int32]
        }
        let codec = try WireCodec(event: WholeNote.self)
        let read = try reading(Note.self, of: try RingEvent(WholeNote.self), codec.schema.fields)
        var writer = WireWriter()
        try codec.encode(WholeNote(text: "x", marks: [4]), into: &writer)
        #expect(try writer.withUnsafeBytes { try read($0) } == Note(marks: [4]))
    }
}
private typealias WholeNote = Note
