import CRelayShims
import Glibc
import Synchronization
import TestTraits
import Testing

@testable import RelayCore

/// A ring's memory comes with what is written.
@Suite("The memory of a ring", .heavy, .tags(.g8)) struct RingSupplyTests {
    /// Gives memory so many times, and keeps account.
    private final class Counted: Sendable {
        let steps: Mutex<[Int]> = Mutex([])
        let exhausted = Mutex<[Int32]>([])
        let most: Int
        init(most: Int = .max) { self.most = most }
        func supply(_ pages: UnsafeMutableRawPointer, _ bytes: Int) -> Int32 {
            let isThere = steps.withLock { steps in
                if steps.count >= most { return false }
                steps.append(bytes)
                return true
            }
            return isThere ? relay_supply(pages, bytes) : ENOMEM
        }
        func ring(_ capacity: Int) throws -> RingWriter {
            try RingWriter(
                "supplied", events: [RingEvent(name: "Any")], capacity: capacity, epoch: 7, waker: RingWaker(),
                source: { self.supply($0, $1) },
                exhausted: { _, error in self.exhausted.withLock { $0.append(error.code) } })
        }
    }
    private func publish(_ ring: RingWriter, _ count: Int, bytes: Int = 96) throws {
        let payload = [UInt8](repeating: 7, count: bytes)
        for _ in 0..<count { _ = try payload.withUnsafeBytes { try ring.publish(0, $0) } }
    }

    @Test("a new ring has little, gets more as it is written, and all of it once; reading takes none")
    func grows() throws {
        let capacity = 4 << 20
        let ring = try Counted().ring(capacity)
        let atFirst = allocated(ring.descriptor)
        #expect(atFirst <= RingSupply.step + 2 * Int(getpagesize()))
        var reader = RingReader(try RingArea(receiving: ring.descriptor), after: 0)
        #expect(allocated(ring.descriptor) == atFirst)
        // Records of 128 bytes.
        try publish(ring, (1 << 20) / 128)
        #expect((1 << 20)...(1 << 20 + 3 * RingSupply.step) ~= allocated(ring.descriptor))
        let before = allocated(ring.descriptor)
        for _ in 0..<(1 << 20) / 128 {
            guard case .record = try reader.next() else {
                Issue.record("no record")
                return
            }
        }
        let end = try reader.next()
        #expect(end == .empty && allocated(ring.descriptor) == before)
        try publish(ring, 2 * capacity / 128)
        let whole = allocated(ring.descriptor)
        #expect(whole == ring.header.size)
        try publish(ring, capacity / 128)
        #expect(allocated(ring.descriptor) == whole && ring.supply.end == RingSupply.all)
    }
    @Test(
        "it is there before the record that needs it: a publish gets it behind its own", arguments: [64 << 10, 1 << 20])
    func ahead(capacity: Int) throws {
        let (counted, record) = (Counted(), UInt64(128))
        let ring = try counted.ring(capacity)
        for number in 0..<UInt64(2 * capacity) / record {
            #expect(ring.supply.end >= (number + 1) * record, "record \(number)")
            try publish(ring, 1)
        }
        // Each step once.
        #expect(counted.steps.withLock { $0.reduce(0, +) } + RingSupply.step == capacity + capacity / 4)
    }
    @Test("a record larger than what is there gets what it needs") func large() throws {
        let pair = try Pair(capacity: 8 << 20)
        var reader = try pair.reader()
        for _ in 0..<20 {
            try pair.publish([UInt8](repeating: 9, count: 1 << 20))
            guard case (.record, let bytes) = try reader.step(), bytes.count == 1 << 20 else {
                Issue.record("no record")
                return
            }
        }
    }
    @Test("without memory for a record the ring ends, and all before it can be read", arguments: [0, 1, 5])
    func none(steps: Int) throws {
        let counted = Counted(most: steps)
        let ring = try counted.ring(1 << 20)
        var reader = RingReader(try RingArea(receiving: ring.descriptor), after: 0)
        var published = 0
        let error = #expect(throws: RelayError.self) {
            while true {
                try publish(ring, 1)
                published += 1
            }
        }
        #expect(error?.code == .unavailable && error?.message.contains("memory") == true)
        #expect(published == (steps + 1) * RingSupply.step / 128)
        #expect(throws: RelayError.self) { try publish(ring, 1) }
        #expect(counted.exhausted.withLock { $0 } == [ENOMEM])
        var count = 0
        while case .record = try reader.next() { count += 1 }
        #expect(count == published)
        #expect(try reader.next() == .ended)
    }
    @Test("several threads that publish at once find memory for each record") func threads() async throws {
        let ring = try Counted().ring(1 << 20)
        try await withThrowingTaskGroup { group in
            for _ in 0..<4 { group.addTask { try await onThread { try publish(ring, 20_000) } } }
            try await group.waitForAll()
        }
        #expect(ring.supply.end == RingSupply.all && allocated(ring.descriptor) == ring.header.size)
    }
}
