import TestTraits
import RelayCore
import TestTraits

/// Damages a ring's memory in place, as a service that was taken over might.
struct RingMutator {
    private var random: SeededGenerator
    private let memory: UnsafeMutableRawPointer
    private let dataOffset: Int
    private let capacity: Int
    private let records: [Int]

    /// - Parameter records: where records begin, in bytes from the data's start.
    init(seed: UInt64, _ area: RingArea, records: [Int]) {
        random = SeededGenerator(seed: seed)
        memory = area.memory.base
        (dataOffset, capacity, self.records) = (area.header.dataOffset, area.header.capacity, records)
    }

    mutating func pick(_ count: Int) -> Int { Int(truncatingIfNeeded: random.next() % UInt64(count)) }

    /// Changes some words.
    mutating func mutate() {
        for _ in 0...pick(3) {
            switch pick(10) {
            case 0: change(8 * pick(8))
            case 1: change(RingLayout.intentOffset)
            case 2: change(RingLayout.tailOffset)
            case 3:
                change(RingLayout.tailOffset)
                let tail = memory.load(fromByteOffset: RingLayout.tailOffset, as: UInt64.self)
                memory.storeBytes(of: tail, toByteOffset: RingLayout.intentOffset, as: UInt64.self)
            case 4: change(RingLayout.endOffset)
            case 5: change(RingLayout.indexOffset + 8 * pick(RingLayout.indexCount))
            case 6: change(RingLayout.directoryStart + 8 * pick(6))
            case 7: change(dataOffset + 8 * pick(capacity / 8))
            default: change(dataOffset + (records[pick(records.count)] + 8 * pick(4)) % capacity)
            }
        }
    }
    /// What changes under a reader's hands: the words that also an honest writer changes.
    mutating func mutateLive() {
        switch pick(4) {
        case 0: change(RingLayout.intentOffset)
        case 1: change(RingLayout.tailOffset)
        case 2: change(RingLayout.indexOffset + 8 * pick(RingLayout.indexCount))
        default: change(dataOffset + 8 * pick(capacity / 8))
        }
    }
    private mutating func change(_ offset: Int) {
        let word = memory + offset
        let old = word.load(as: UInt64.self)
        let new: UInt64 =
            switch pick(12) {
            case 0: 0
            case 1: .max
            case 2: random.next()
            case 3: old &+ 1
            case 4: old &- 1
            case 5: old &+ 8
            case 6: old &- 8
            case 7: old &+ UInt64(capacity)
            case 8: old &- UInt64(capacity)
            case 9: old ^ (1 << UInt64(pick(64)))
            case 10: old & 0xFFFF_FFFF_0000_0000 | UInt64(pick(2_048))
            default: old &+ 8 * UInt64(pick(256))
            }
        word.storeBytes(of: new, as: UInt64.self)
    }
}
