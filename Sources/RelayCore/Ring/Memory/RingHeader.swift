import CRelayShims
import Glibc

/// What a ring claims about itself: read once, checked, and never read again.
package struct RingHeader: Hashable, Sendable {
    package let epoch: UInt64
    /// The ring's number among those of its service: where a subscriber reports its progress (`RingWaiter.report`).
    package let ringIndex: Int
    /// The sequence before the ring's first record.
    package let base: UInt64
    package let capacity: Int
    package let dataOffset: Int
    /// An event's number is its place.
    package let events: [RingEvent]

    /// Of the file.
    package var size: Int { dataOffset + capacity }

    /// For a new ring. Throws `.invalidArgument` for a capacity that is no power of two, or less than a page.
    package init(epoch: UInt64, ringIndex: Int = 0, base: UInt64, capacity: Int, events: [RingEvent]) throws(RelayError)
    {
        let page = Int(getpagesize())
        guard capacity > 0, RingLayout.isCapacity(UInt64(capacity), page: page) else {
            throw RelayError(
                .invalidArgument,
                "a ring of \(capacity) bytes: take a power of two from \(page) to \(RingLayout.maximumCapacity)")
        }
        let length = RingDirectory.encode(events).count
        guard length <= RingLayout.maximumDirectory else {
            throw RelayError(.tooLarge, "a list of \(events.count) events for a ring has \(length) bytes")
        }
        (self.epoch, self.ringIndex, self.base) = (epoch, ringIndex, base)
        (self.capacity, self.events) = (capacity, events)
        dataOffset = (RingLayout.directoryStart + length + page - 1) & ~(page - 1)
    }

    func write(to memory: UnsafeMutableRawPointer) {
        let directory = RingDirectory.encode(events)
        memory.storeBytes(of: RingLayout.magic, as: UInt64.self)
        memory.storeBytes(of: RingLayout.version, toByteOffset: 8, as: UInt32.self)
        memory.storeBytes(of: UInt32(dataOffset), toByteOffset: 12, as: UInt32.self)
        memory.storeBytes(of: UInt64(capacity), toByteOffset: RingLayout.capacityOffset, as: UInt64.self)
        memory.storeBytes(of: epoch, toByteOffset: RingLayout.epochOffset, as: UInt64.self)
        memory.storeBytes(of: base, toByteOffset: RingLayout.baseOffset, as: UInt64.self)
        memory.storeBytes(
            of: Fingerprint.of(directory), toByteOffset: RingLayout.fingerprintOffset, as: UInt64.self)
        memory.storeBytes(
            of: UInt32(directory.count), toByteOffset: RingLayout.directoryOffset, as: UInt32.self)
        memory.storeBytes(
            of: UInt32(RingLayout.indexCount), toByteOffset: RingLayout.directoryOffset + 4, as: UInt32.self)
        memory.storeBytes(
            of: UInt64(UInt32(truncatingIfNeeded: ringIndex)), toByteOffset: RingLayout.ringIndexOffset, as: UInt64.self
        )
        (memory + RingLayout.directoryStart).copyMemory(from: directory, byteCount: directory.count)
    }

    /// How a ring's file is divided, by its first page.
    ///
    /// - Parameters:
    ///   - memory: at least one page, mapped; what it holds may be anything, and may change.
    ///   - size: of the whole file.
    static func division(
        reading memory: UnsafeRawPointer, size: Int
    ) throws(RingFault) -> (dataOffset: Int, capacity: Int) {
        let page = Int(getpagesize())
        guard size >= 2 * page else { throw RingFault(.size(found: size, expected: 2 * page)) }
        // Every word once: a second look might see another value than the one that was checked.
        let magic = relay_load(memory)
        guard magic == RingLayout.magic else { throw RingFault(.magic(magic)) }
        let second = relay_load(memory + 8)
        let (version, offset) = (UInt32(truncatingIfNeeded: second), UInt32(second >> 32))
        guard version == RingLayout.version else { throw RingFault(.version(version)) }
        let capacity = relay_load(memory + RingLayout.capacityOffset)
        guard RingLayout.isCapacity(capacity, page: page) else { throw RingFault(.capacity(capacity)) }
        let dataOffset = Int(offset)
        guard dataOffset >= page, dataOffset % page == 0, dataOffset <= size else {
            throw RingFault(.dataOffset(offset))
        }
        guard dataOffset + Int(capacity) == size else {
            throw RingFault(.size(found: size, expected: dataOffset + Int(capacity)))
        }
        return (dataOffset, Int(capacity))
    }
    /// - Parameters:
    ///   - memory: the whole file, mapped; what it holds may be anything, and may change.
    ///   - size: of the file.
    ///   - expected: where the data begins in the mapping, if that was decided by an earlier look.
    init(reading memory: UnsafeRawPointer, size: Int, dataOffset expected: Int? = nil) throws(RingFault) {
        let (dataOffset, capacity) = try Self.division(reading: memory, size: size)
        guard dataOffset == expected ?? dataOffset else { throw RingFault(.dataOffset(UInt32(dataOffset))) }
        let lengths = relay_load(memory + RingLayout.directoryOffset)
        let (length, index) = (Int(UInt32(truncatingIfNeeded: lengths)), UInt32(lengths >> 32))
        guard index == RingLayout.indexCount else { throw RingFault(.index(index)) }
        guard length % 8 == 0, length <= RingLayout.maximumDirectory,
            length <= dataOffset - RingLayout.directoryStart
        else { throw RingFault(.directory("\(length) bytes of it")) }
        let directory = [UInt8](unsafeUninitializedCapacity: length) { bytes, count in
            // An array of bytes begins where anything may: malloc aligns to 16.
            if let address = bytes.baseAddress {
                relay_load_words(address, memory + RingLayout.directoryStart, length / 8)
            }
            count = length
        }
        let fingerprint = relay_load(memory + RingLayout.fingerprintOffset)
        guard Fingerprint.of(directory) == fingerprint else { throw RingFault(.fingerprint(fingerprint)) }
        epoch = relay_load(memory + RingLayout.epochOffset)
        ringIndex = Int(UInt32(truncatingIfNeeded: relay_load(memory + RingLayout.ringIndexOffset)))
        base = relay_load(memory + RingLayout.baseOffset)
        (self.capacity, self.dataOffset) = (capacity, dataOffset)
        events = try RingDirectory.decode(directory)
    }
}

/// FNV-1a with 64 bits: the same in every run and program. It finds accidents, not forgeries.
enum Fingerprint {
    static func of(_ bytes: some Sequence<UInt8>) -> UInt64 {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
        return hash
    }
}
