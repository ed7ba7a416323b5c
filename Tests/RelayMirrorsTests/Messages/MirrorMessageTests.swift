import TestTraits
import Testing

@testable import RelayCore
@testable import RelayMirrors
import RelayWire

@Suite("Messages of mirrors, in bytes", .tags(.g8)) struct MirrorMessageTests {
    private static let schemas: [UInt32: EventSchema] = [
        1: EventSchema(event: "Booked", fields: [WireField(name: "number", type: .int64)]),
        4: EventSchema(event: "Struck", fields: []), 9: EventSchema(event: "Unused", fields: []),
    ]
    private static func body(_ sequence: UInt64, previous: UInt64 = 0, number: Int64? = nil) -> [UInt8] {
        var writer = WireWriter()
        if let number { writer.int64(number) }
        Stamp(epoch: 1, sequence: sequence, previous: previous, publishedAt: Timestamp(microseconds: 7))
            .write(into: &writer)
        return writer.bytes
    }
    /// Booked #5, Struck #6, Booked #7 of run 3 in the journal 2.
    private static func page() throws -> MirrorMessage {
        var pages = MirrorPageWriter(epoch: 3, journal: 2, writer: 8)
        let events: [(UInt64, UInt32, [UInt8])] = [
            (5, 1, body(5, number: 50)), (6, 4, body(6)), (7, 1, body(7, previous: 5, number: 70)),
        ]
        for (sequence, schema, body) in events {
            let isTaken = body.withUnsafeBytes { pages.append(sequence, schema: schema, body: $0) }
            #expect(isTaken)
        }
        return try #require(try pages.take(schemas))
    }
    private static func snapshot(documents: Int = 1, size: Int = 5) -> MirrorSnapshot {
        var snapshot = MirrorSnapshot(
            RunTable(
                [StreamRun(epoch: 2, first: 1), StreamRun(epoch: 6, first: 4), StreamRun(epoch: 3, first: 4)],
                undone: [1, 9]))
        snapshot.last = ["Booked": 7, "Struck": 6]
        snapshot.schemas = [4: EventSchema(event: "Struck", fields: [])]
        snapshot.documents = (0..<documents).map {
            MirrorSnapshot.Document(
                name: "Struck", sequence: 6, schema: 4, state: [UInt8](repeating: UInt8($0), count: size))
        }
        snapshot.contract = "relay-contract 1\n"
        return snapshot
    }
    private static let header = MirrorHeader.snapshot(at: 7, epoch: 3, journal: 2, writer: 8)

    @Test("a page reads as it was written, with the schemas that it needs") func page() throws {
        let message = try Self.page()
        let read = try MirrorMessage(message.bytes)
        #expect(read == message && read.header.events == 5...7 && read.header.epoch == 3)
        let page = try MirrorPage(read)
        #expect(page.schemas == Self.schemas.filter { $0.key != 9 })
        #expect(page.events.map(\.stamp.sequence) == [5, 6, 7] && page.events.map(\.schema) == [1, 4, 1])
        #expect(page.events.map(\.stamp.epoch) == [3, 3, 3])
        #expect(Array(page.bytes[page.events[2].body]) == Self.body(7, previous: 5, number: 70))
    }
    @Test("the bytes are those of the specification") func bytes() throws {
        let bytes = try Self.page().bytes
        func number(_ offset: Int, _ size: Int) -> UInt64 {
            bytes[offset..<offset + size].reversed().reduce(0) { $0 << 8 | UInt64($1) }
        }
        #expect(bytes[..<8] == [0x52, 0x65, 0x6C, 0x4D, 1, 1, 0, 0])
        #expect([8, 16, 24, 32, 40].map { number($0, 8) } == [8, 2, 3, 5, 7])
        #expect(number(48, 2) == 0 && number(50, 2) == 1 && number(52, 4) == UInt64(bytes.count) - 64)
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for offset in Array(stride(from: 0, to: 56, by: 8)) + Array(stride(from: 64, to: bytes.count, by: 8)) {
            hash = (hash ^ number(offset, min(8, bytes.count - offset))) &* 0x0000_0100_0000_01B3
            hash ^= hash >> 32
        }
        #expect(number(56, 8) == hash)
        // The first event, behind the schemas.
        let event: [UInt8] = [1, 0, 0, 0, 32, 0, 0, 0, 50, 0, 0, 0, 0, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0]
        let place = try #require((64..<bytes.count).first { bytes[$0...].starts(with: event) })
        #expect(place % 8 == 0)
    }
    @Test("no byte of a message can change, be missing or be added without notice") func damage() throws {
        let snapshot = try #require(try Self.snapshot().messages(Self.header).first)
        for message in [try Self.page(), snapshot] {
            let bytes = message.bytes
            for index in bytes.indices {
                for change in [1, 0x80, 0xFF] as [UInt8] {
                    var damaged = bytes
                    damaged[index] ^= change
                    #expect(throws: RelayError.self) { try MirrorMessage(damaged) }
                }
                #expect(throws: RelayError.self) { try MirrorMessage(Array(bytes[..<index])) }
            }
            #expect(throws: RelayError.self) { try MirrorMessage(bytes + [0]) }
        }
    }
    @Test("whatever a body holds, it reads as a page or a snapshot, or is refused") func hostileBodies() throws {
        let page = try Self.page()
        let snapshot = try Self.snapshot().bytes()
        var (pages, snapshots) = (0, 0)
        func tryBodies(_ body: [UInt8], _ read: ([UInt8]) throws -> Void) -> Int {
            var taken = 0
            for index in body.indices {
                for change in [1, 2, 0x7F, 0x80, 0xFF] as [UInt8] {
                    var damaged = body
                    damaged[index] ^= change
                    do {
                        try read(damaged)
                        taken += 1
                    } catch { #expect(error is RelayError, "\(error)") }
                }
                do { try read(Array(body[..<index])) } catch { #expect(error is RelayError, "\(error)") }
            }
            return taken
        }
        pages = tryBodies(page.body) { body in
            // With a checksum that is right: somebody made it so.
            let read = try MirrorPage(MirrorMessage(page.header, body: body))
            #expect(read.events.map(\.stamp.sequence) == [5, 6, 7])
        }
        snapshots = tryBodies(snapshot) { _ = try MirrorSnapshot($0, of: Self.header) }
        // Fields, states and names may be anything.
        #expect(pages > 0 && snapshots > 0)
    }
    @Test("a header whose numbers contradict each other is refused")
    func contradictions() {
        func isRefused(_ header: MirrorHeader) -> Bool {
            do throws(RelayError) { _ = try MirrorMessage(MirrorMessage(header, body: []).bytes) } catch {
                return error.code == .invalidArgument
            }
            return false
        }
        var headers: [MirrorHeader] = []
        func add(_ header: MirrorHeader, _ change: (inout MirrorHeader) -> Void) {
            var header = header
            change(&header)
            headers.append(header)
        }
        let page = MirrorHeader.page(of: 5...7, epoch: 3, journal: 2, writer: 8)
        for header in [page, Self.header] {
            #expect(!isRefused(header))
            add(header) { $0.epoch = 0 }
            add(header) { $0.journal = 0 }
            add(header) { $0.last = .max }
            add(header) { $0.last = MirrorHeader.lastSequence + 1 }
            add(header) { $0.part = 1 }
            add(header) { $0.parts = 0 }
        }
        add(page) { $0.first = 0 }
        add(page) { $0.first = 8 }
        add(page) { $0.parts = 2 }
        add(Self.header) { $0.first = 1 }
        add(Self.header) { $0.parts = 257 }
        for header in headers { #expect(isRefused(header), "\(header)") }
    }
    @Test("a page ends where it is full, and where events do not follow each other") func ends() throws {
        var pages = MirrorPageWriter(epoch: 3, journal: 2, writer: 8)
        func append(_ sequence: UInt64, _ size: Int) -> Bool {
            let body = [UInt8](repeating: 0, count: size - 24) + Self.body(sequence)
            return body.withUnsafeBytes { pages.append(sequence, schema: 4, body: $0) }
        }
        let taken = [append(1, 200 << 10), append(3, 24), append(2, 100 << 10), append(2, 24)]
        #expect(taken == [true, false, false, true])
        #expect(try pages.take(Self.schemas)?.header.events == 1...2)
        // One that is larger is alone.
        let large = [append(3, 1 << 20), append(4, 24)]
        #expect(large == [true, false])
        #expect(try pages.take(Self.schemas)?.header.events == 3...3)
        #expect(pages.isEmpty)
        let missing = append(5, 24)
        #expect(missing)
        #expect(throws: RelayError.self) { try pages.take([:]) }
    }

    @Test("G8: a sequence with no next one ends a page", .tags(.g8)) func lastOfAll() {
        var pages = MirrorPageWriter(epoch: 3, journal: 2, writer: 8)
        let taken = [UInt64.max, .max, 1].map { sequence in
            [UInt8](repeating: 0, count: 24).withUnsafeBytes { pages.append(sequence, schema: 4, body: $0) }
        }
        #expect(taken == [true, false, false])
    }

    @Test("a snapshot reads as it was written, in one part or in many", arguments: [(1, 5), (3, 200 << 10)])
    func snapshot(documents: Int, size: Int) throws {
        let snapshot = Self.snapshot(documents: documents, size: size)
        let messages = try snapshot.messages(Self.header)
        #expect(messages.count == (size > 5 ? 3 : 1))
        var parts = SnapshotParts()
        var bytes: [UInt8]?
        for (index, message) in messages.enumerated() {
            #expect(bytes == nil)
            bytes = parts.take(try MirrorMessage(message.bytes), at: UInt64(10 + index))
        }
        #expect(try MirrorSnapshot(try #require(bytes), of: Self.header) == snapshot)
    }
    @Test("parts that do not follow each other make no snapshot") func parts() throws {
        let messages = try Self.snapshot(documents: 3, size: 200 << 10).messages(Self.header)
        let page = try Self.page()
        var other = Self.header
        other.writer = 9
        let others = try Self.snapshot(documents: 3, size: 200 << 10).messages(other)
        func whole(_ messages: [(UInt64, MirrorMessage?)]) -> [UInt64] {
            var parts = SnapshotParts()
            return messages.compactMap { parts.take($1, at: $0) == nil ? nil : $0 }
        }
        #expect(whole([(1, messages[0]), (2, messages[1]), (3, messages[2])]) == [3])
        #expect(whole([(1, messages[1]), (2, messages[2])]) == [])
        #expect(whole([(1, messages[0]), (2, messages[2])]) == [])
        #expect(whole([(1, messages[0]), (3, messages[1]), (4, messages[2])]) == [])
        #expect(whole([(1, messages[0]), (2, nil), (3, messages[1]), (4, messages[2])]) == [])
        #expect(whole([(1, messages[0]), (2, page), (3, messages[1]), (4, messages[2])]) == [])
        #expect(whole([(1, messages[0]), (2, others[1]), (3, messages[2])]) == [])
        // It was begun again.
        #expect(
            whole([(1, messages[0]), (2, messages[1]), (3, messages[0]), (4, messages[1]), (5, messages[2])]) == [5])
    }
    @Test("a snapshot over 64 MiB is refused with its size") func tooLarge() throws {
        var snapshot = Self.snapshot()
        snapshot.contract = String(repeating: "#", count: 64 << 20)
        let error = #expect(throws: RelayError.self) { try snapshot.messages(Self.header) }
        #expect(error?.code == .tooLarge && error?.message.contains("67109") == true, "\(String(describing: error))")
    }
}
