import CRelayShims
import Glibc

@testable import RelayCore
import Synchronization
import TestTraits
import Testing
import RelayWire

extension RingEvent {
    fileprivate static var any: RingEvent { RingEvent(name: "Any") }
}
extension RecordWriter {
    /// A record of so many bytes, behind the one before it.
    fileprivate mutating func write(_ sequence: UInt64, count: Int) {
        let stamp = Stamp(
            epoch: 1, sequence: sequence, previous: sequence - 1, publishedAt: Timestamp(microseconds: sequence))
        pattern(sequence, count).withUnsafeBytes { _ = write(stamp, kind: 0, $0) { _ in } }
    }
}

/// Rings that say what no honest writer says. Under AddressSanitizer, too: docs/internals/RING.md has the command.
@Suite("Hostile rings", .heavy, .tags(.g8)) struct HostileRingTests {
    /// How a drain ended.
    private enum Outcome { case header, fault, drained }

    /// In parts that run beside each other: a million in all in the deep form.
    @Test("mutated rings end in typed faults or clean deliveries", arguments: 0..<4)
    func mutated(part: UInt64) async throws {
        try await onThread { try read(TestForm.rounds(10_000, soak: 250_000), seed: 20_261 + part) }
    }

    private func read(_ rings: Int, seed: UInt64) throws {
        let (area, records) = try sample()
        let memory = area.memory
        let original = [UInt8](UnsafeRawBufferPointer(start: memory.base, count: memory.size))
        var mutator = RingMutator(seed: seed, area, records: records)
        var outcomes: [Outcome: Int] = [:]
        for _ in 0..<rings {
            memory.base.copyMemory(from: original, byteCount: original.count)
            mutator.mutate()
            outcomes[try drain(memory, &mutator), default: 0] += 1
        }
        let counts = [Outcome.header, .fault, .drained].map { outcomes[$0, default: 0] }
        print("\(rings) mutated rings: \(counts[0]) refused, \(counts[1]) found faulty, \(counts[2]) read to their end")
        // All three come often: else the mutations would miss what they are for.
        for outcome: Outcome in [.header, .fault, .drained] { #expect(outcomes[outcome, default: 0] > rings / 50) }
    }
    /// A ring whose records have lapped it, and where they begin.
    private func sample() throws -> (RingArea, [Int]) {
        let events = [
            RingEvent(name: "Any"), RingEvent(name: "Raw", rawSize: 24, layout: "a:f4*4,c:i8*1"),
        ]
        let header = try RingHeader(epoch: 3, base: 10, capacity: 4_096, events: events)
        // One page each: the header can claim no other division of the file.
        #expect(header.dataOffset == 4_096)
        let area = try RingArea(creating: "hostile", header)
        var pen = RecordWriter(area)
        var starts: [(UInt64, Int)] = []
        for sequence: UInt64 in 11...60 {
            starts.append((pen.tail, Int(pen.tail % 4_096)))
            let isRaw = sequence % 3 == 0
            let stamp = Stamp(
                epoch: 3, sequence: sequence, previous: sequence > 13 ? sequence - 3 : 0,
                publishedAt: Timestamp(microseconds: sequence))
            pattern(sequence, isRaw ? 24 : Int(sequence * 13 % 200)).withUnsafeBytes {
                _ = pen.write(
                    stamp, kind: isRaw ? 1 : sequence % 10 == 0 ? RingLayout.skipped : 0,
                    sequence % 10 == 0 && !isRaw ? UnsafeRawBufferPointer(rebasing: $0[..<0]) : $0
                ) { _ in }
            }
        }
        let tail = pen.tail
        return (area, starts.filter { $0.0 + 4_096 >= tail }.map(\.1))
    }
    private func drain(_ memory: SealedMemory, _ mutator: inout RingMutator) throws -> Outcome {
        let area: RingArea
        do throws(RingFault) { area = try RingArea(damaged: memory) } catch { return .header }
        let after = UInt64(mutator.pick(70))
        let isLive = mutator.pick(4) == 0
        // As who does not know the types reads them: by what the ring says of itself.
        let transcoders = area.header.events.map { event in
            event.rawSize.flatMap { try? FixedLayoutTranscoder(layout: event.layout, size: $0) }
        }
        var reader = RingReader(area, after: after)
        var (sequence, sum) = (after, 0)
        for _ in 0..<2_000 {
            do {
                switch try reader.next() {
                case .record(let kind, let stamp), .tooLarge(let kind, let stamp):
                    try #require(stamp.sequence == sequence + 1 && stamp.previous < stamp.sequence)
                    try #require(kind < area.header.events.count)
                    try #require(reader.payload.count <= RingLayout.maximumPayload(4_096))
                    sequence = stamp.sequence
                    // Every byte: memory that is not the reader's would end the run here.
                    for byte in reader.payload { sum &+= Int(byte) }
                    if let transcoder = transcoders[kind] {
                        var writer = WireWriter()
                        do throws(RelayError) {
                            try transcoder.transcode(reader.payload, into: &writer)
                        } catch { try #require(reader.payload.count != transcoder.size && writer.count == 0) }
                    }
                case .lapped(let range), .absent(let range):
                    try #require(range.lowerBound == sequence + 1)
                    sequence = range.upperBound
                case .empty, .ended:
                    if !isLive || !reader.hasNews { return .drained }
                }
            } catch let fault as RingFault {
                // The last word.
                do throws(RingFault) { _ = try reader.next() } catch { try #require(error == fault) }
                return .fault
            }
            if isLive { mutator.mutateLive() }
        }
        // A live ring may go on for ever; one that stands still may not.
        try #require(isLive)
        return .drained
    }

    @Test("a ring that changes under its reader is never trusted twice") func scribbled() async throws {
        let (area, records) = try sample()
        let original = [UInt8](UnsafeRawBufferPointer(start: area.memory.base, count: area.memory.size))
        let hasBegun = Atomic(false)
        let mustEnd = Atomic(false)
        let scribbling = Task {
            try await onThread {
                var mutator = RingMutator(seed: 99, area, records: records)
                while !mustEnd.load(ordering: .relaxed) {
                    for _ in 0..<20 { mutator.mutateLive() }
                    hasBegun.store(true, ordering: .relaxed)
                    // Sound again, or the damage would soon leave nothing to read.
                    area.memory.base.copyMemory(from: original, byteCount: original.count)
                }
            }
        }
        let turns = TestForm.rounds(30_000, soak: 1_000_000)
        let faults = try await onThread {
            defer { mustEnd.store(true, ordering: .relaxed) }
            while !hasBegun.load(ordering: .relaxed) { sched_yield() }
            var (faults, sum) = (0, 0)
            for turn in 0..<turns {
                var reader = RingReader(area, after: UInt64(turn % 60))
                do throws(RingFault) {
                    for _ in 0..<50 {
                        switch try reader.next() {
                        case .record, .tooLarge: for byte in reader.payload { sum &+= Int(byte) }
                        default: break
                        }
                    }
                } catch { faults += 1 }
            }
            return faults
        }
        try await scribbling.value
        #expect(faults > 0)
    }
    @Test("a file of another size than its header says is refused", arguments: [1, 2, 3, 5, 8]) func sizes(pages: Int)
        throws
    {
        let header = try RingHeader(epoch: 1, base: 0, capacity: 4 * 4_096, events: [])
        let memory = try SealedMemory(creating: "cut", size: pages * 4_096, seals: .readOnly) { page in
            let whole = try? RingArea(creating: "whole", header)
            if let whole { page.copyMemory(from: whole.memory.base, byteCount: 4_096) }
        }
        let expected: RingFault.Problem =
            pages == 1
            ? .size(found: 4_096, expected: 8_192) : .size(found: pages * 4_096, expected: 5 * 4_096)
        let found = fault { _ = try RingArea(receiving: memory.number) }
        #expect(found == (pages == 5 ? nil : expected))
    }
    @Test(
        "a size that no ring can have is refused before anything is mapped",
        arguments: [1 << 40, Int.max, Int.max & ~4_095, (1 << 30) + (1 << 20) + 8_192])
    func beyond(size: Int) throws {
        let number = try sparse(size)
        defer { close(number) }
        #expect(fault { _ = try RingArea(receiving: number) } == .tooLarge(size))
    }
    @Test("mapping a file with holes takes no memory for them") func holes() throws {
        let header = try RingHeader(epoch: 1, base: 0, capacity: 1 << 30, events: [.any])
        let area = try RingArea(creating: "holes", header)
        var pen = RecordWriter(area)
        pen.write(1, count: 8)
        let before = allocated(area.memory.number)
        var reader = RingReader(try RingArea(receiving: area.memory.number), after: 0)
        guard case .record = try reader.next(), case .empty = try reader.next() else {
            Issue.record("another step")
            return
        }
        #expect(allocated(area.memory.number) == before && before < 1 << 20)
    }
    /// Sealed as a ring is, and of this size, without any memory.
    private func sparse(_ size: Int) throws -> Int32 {
        let number = relay_memfd_create("sparse", 3)
        try #require(number >= 0 && ftruncate(number, size) == 0)
        try #require(relay_add_seals(number, MemorySeals.readOnly.rawValue) == 0)
        return number
    }
    @Test("a header that is another one at the second look is refused") func changed() throws {
        let header = try RingHeader(epoch: 1, base: 0, capacity: 4 * 4_096, events: [])
        let area = try RingArea(creating: "changed", header)
        #expect(header.dataOffset == 4_096)
        do throws(RingFault) {
            _ = try RingHeader(reading: area.memory.base, size: header.size, dataOffset: 8_192)
            Issue.record("was accepted")
        } catch { #expect(error.problem == .dataOffset(4_096)) }
    }
    @Test("a large ring has no larger records than a message, and its reader no larger buffer") func largest() throws {
        let pair = try Pair(capacity: 8 << 20)
        #expect(RingLayout.maximumPayload(1 << 30) == 1 << 20 && RingLayout.maximumPayload(8 << 20) == 1 << 20)
        try pair.publish([UInt8](repeating: 7, count: 1 << 20))
        try pair.publish([UInt8](repeating: 7, count: 1 << 20 + 1))
        var reader = try pair.reader()
        guard case (.record, let bytes) = try reader.step(), case (.tooLarge, _) = try reader.step() else {
            Issue.record("another step")
            return
        }
        #expect(bytes.count == 1 << 20)
        // What claims to be larger is no record.
        let area = try RingArea(creating: "large", RingHeader(epoch: 1, base: 0, capacity: 8 << 20, events: []))
        relay_store(area.data, 1 << 20 + 1)
        relay_store(area.intent, 8 << 20)
        relay_store_release(area.tail, 2 << 20)
        var hostile = RingReader(area, after: 0)
        do throws(RingFault) {
            _ = try hostile.next()
            Issue.record("was read")
        } catch { #expect(error.problem == .length(1 << 20 + 1)) }
    }
    @Test("a tail that was seen stays the least: one behind it is a fault, also behind records that were copied")
    func lowered() throws {
        let area = try RingArea(creating: "lowered", RingHeader(epoch: 1, base: 0, capacity: 4_096, events: [.any]))
        var pen = RecordWriter(area)
        for sequence: UInt64 in 1...3 { pen.write(sequence, count: 16) }
        let honest = pen.tail
        var reader = RingReader(area, after: 0)
        _ = try reader.next()
        relay_store_release(area.tail, honest + 8)
        #expect(try reader.look() == honest + 8)
        relay_store_release(area.tail, honest)
        for _ in 2...3 { _ = try reader.next() }
        for _ in 1...2 { #expect(fault { _ = try reader.next() } == .tail(honest)) }
        #expect(fault { _ = try reader.look() } == .tail(honest))
    }
    @Test("a record that grows while it is copied is a fault, and not copied once more") func grown() throws {
        let area = try RingArea(creating: "grown", RingHeader(epoch: 1, base: 0, capacity: 1 << 20, events: [.any]))
        var pen = RecordWriter(area)
        pen.write(1, count: 64)
        let start = Int(pen.tail)
        pen.write(2, count: 20_000)
        for sequence: UInt64 in 3...10 { pen.write(sequence, count: 20_000) }
        var reader = RingReader(area, after: 0)
        // The beginning of the second one is in the reader's own memory from now on.
        _ = try reader.next()
        relay_store(area.data + start, 30_000)
        #expect(fault { _ = try reader.next() } == .length(30_000))
    }
    @Test("a file of huge pages is refused before anything is mapped") func hugePages() throws {
        let number = relay_memfd_create("huge", 2 | 4)
        // Not every kernel has them.
        if number < 0 { return }
        defer { close(number) }
        try #require(ftruncate(number, 4 << 20) == 0)
        try #require(relay_add_seals(number, MemorySeals.readOnly.rawValue) == 0)
        #expect(fault { _ = try RingArea(receiving: number) } == .fileSystem(0x9584_58f6))
        #expect(fault { _ = try RingWaiter(receiving: number) } == .fileSystem(0x9584_58f6))
    }
    @Test("a file that is cut short while it is read keeps its size") func truncation() throws {
        let pair = try Pair()
        for sequence: UInt64 in 1...50 { try pair.publish(pattern(sequence, 30)) }
        var reader = try pair.reader()
        _ = try reader.next()
        #expect(ftruncate(pair.writer.descriptor, 0) == -1)
        #expect(try reader.drain().records.count == 49)
    }
    @Test("lists of events that are damaged are refused", arguments: 0..<64) func directories(bit: Int) throws {
        let header = try RingHeader(
            epoch: 1, base: 0, capacity: 4_096, events: [RingEvent(name: "Any")])
        let area = try RingArea(creating: "list", header)
        for word in 0..<4 {
            let place = area.memory.base + RingLayout.directoryStart + 8 * word
            let old = place.load(as: UInt64.self)
            place.storeBytes(of: old ^ (1 << UInt64(bit)), as: UInt64.self)
            #expect(throws: RelayError.self) { _ = try RingArea(receiving: area.memory.number) }
            place.storeBytes(of: old, as: UInt64.self)
        }
        #expect(try RingArea(receiving: area.memory.number).header == header)
    }
    @Test("wait pages that lie about their flag are refused", arguments: [UInt64.max, 4_096, 64, 1, 1 << 32])
    func waitPages(offset: UInt64) throws {
        let page = try SealedMemory(creating: "page", size: 4_096, seals: .fixedSize) { page in
            page.storeBytes(of: WaitPage.version, toByteOffset: WaitPage.versionOffset, as: UInt64.self)
            page.storeBytes(of: offset, toByteOffset: WaitPage.flagOffsetOffset, as: UInt64.self)
        }
        #expect(fault { _ = try RingWaiter(receiving: page.number) } != nil)
    }
}
