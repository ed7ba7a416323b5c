import RelayCore
import Testing

@Suite("The ring's payloads") struct PayloadTests {
    @Test("raw bytes and the wire encoding come back as they were") func roundTrip() throws {
        let waker = RingWaker()
        let ring = try RingWriter(
            "test", events: [try RingEvent(Sample.self), try RingEvent(Note.self)], epoch: 1, waker: waker)
        var reader = RingReader(try RingArea(receiving: ring.descriptor), after: 0)
        let samples = try RingCodec(Sample.self, sender: reader.header.events[0])
        let notes = try RingCodec(Note.self, sender: reader.header.events[1])
        let sample = Sample(at: 1.5, load: -0.25, cpu: 3, number: .min)
        let note = Note(text: "eins\u{1F4E6}", marks: [1, -2, 3])
        try ring.publish(sample, as: 0)
        for write in [
            { (w: inout WireWriter) in try samples.encode(sample, into: &w) }, { try notes.encode(note, into: &$0) },
        ].enumerated() {
            var writer = WireWriter()
            try write.element(&writer)
            _ = try writer.withUnsafeBytes { try ring.publish(write.offset, $0) }
        }
        for _ in 0..<2 {
            _ = try reader.next()
            #expect(reader.payload.count == 24)
            #expect(try samples.decode(reader.payload) == sample)
        }
        _ = try reader.next()
        #expect(try notes.decode(reader.payload) == note)
        #expect(throws: RelayError.self) { _ = try samples.decode(reader.payload) }
        #expect(throws: RelayError.self) { _ = try samples.decode(UnsafeRawBufferPointer(start: nil, count: 0)) }
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
        struct Coded: DomainEvent {
            typealias Interface = RingTest1
            static let name = "Sample"
            var at: Double, load: Float, cpu: UInt32, number: Int64
        }
        struct Claimed: DomainEvent {
            typealias Interface = RingTest1
            static var ringPayload: RingPayload { .raw(size: 4) }
            var at: Double
        }
        struct Padded: FixedLayoutEvent {
            typealias Interface = RingTest1
            var cpu: UInt8, at: Double
        }
    }
    @Test("another layout of the same name is refused at once") func fingerprints() throws {
        let sender = try RingEvent(Sample.self)
        #expect(sender.fingerprint != 0)
        #expect(try RingEvent(Sample.self) == sender)
        #expect(throws: RelayError.self) { _ = try RingCodec(Other.Sample.self, sender: sender) }
        #expect(throws: RelayError.self) { _ = try RingCodec(Other.Renamed.self, sender: sender) }
        #expect(throws: RelayError.self) { _ = try RingCodec(Other.Coded.self, sender: sender) }
        #expect(throws: RelayError.self) { _ = try RingCodec(Sample.self, sender: try RingEvent(Other.Coded.self)) }
        for type: any DomainEvent.Type in [Other.Sample.self, Other.Renamed.self, Other.Coded.self] {
            func text<E: DomainEvent>(_ type: E.Type) -> String {
                do { _ = try RingCodec(type, sender: sender) } catch { return "\(error)" }
                return ""
            }
            #expect(text(type).contains("Sample") && text(type).contains("SchemaMismatch"))
        }
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
        #expect(throws: RelayError.self) { _ = try RingEvent(Other.Claimed.self) }
        #expect(throws: RelayError.self) { _ = try RingEvent(Other.Padded.self) }
    }
    @Test("fields that only the sender has are tolerated in the wire encoding") func evolution() throws {
        struct Note: DomainEvent, Equatable {
            typealias Interface = RingTest1
            var marks: [Int32]
        }
        let fields = try WireSchema(event: WholeNote.self).fields
        let codec = try RingCodec(Note.self, sender: try RingEvent(WholeNote.self), fields: fields)
        let sender = try RingCodec(WholeNote.self, sender: try RingEvent(WholeNote.self))
        var writer = WireWriter()
        try sender.encode(WholeNote(text: "x", marks: [4]), into: &writer)
        #expect(try writer.withUnsafeBytes { try codec.decode($0) } == Note(marks: [4]))
    }
}
private typealias WholeNote = Note
