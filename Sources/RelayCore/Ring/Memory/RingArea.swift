import Glibc

/// A ring's memory, mapped: header, data, and the data once more, so that no record wraps around.
package struct RingArea: Sendable {
    package let memory: SealedMemory
    package let header: RingHeader

    /// Makes the memory of a new ring: only its beginning, see `RingSupply`. Throws `.unavailable` when there is none to
    /// be had.
    package init(creating name: String, _ header: RingHeader) throws(RelayError) {
        memory = try SealedMemory(
            creating: name, size: header.size, beginning: header.dataOffset + RingSupply.beginning(header.capacity),
            doubled: header.dataOffset, seals: .readOnly, fill: header.write)
        self.header = header
    }
    /// Maps another process's ring, read-only.
    ///
    /// Throws `.invalidArgument` with a `RingFault` as its cause for a descriptor that is no sealed ring of a known
    /// layout.
    package init(receiving descriptor: Int32) throws(RelayError) {
        let size = try SealedMemory.checkedSize(of: descriptor, seals: .readOnly)
        let page = Int(getpagesize())
        guard size >= 2 * page else { throw RingFault(.size(found: size, expected: 2 * page)).relayError() }
        guard size <= RingLayout.maximumSize(page: page) else { throw RingFault(.tooLarge(size)).relayError() }
        // One page, to see how the file is divided: that decides how it is mapped.
        let first = try SealedMemory(receiving: descriptor, size: size, seals: .readOnly, mapping: page)
        let dataOffset = try RingFault.translated { () throws(RingFault) in
            try RingHeader.division(reading: first.base, size: size).dataOffset
        }
        // Each page at its first use: behind the tail the writer may have none yet.
        let memory = try SealedMemory(
            receiving: descriptor, size: size, doubled: dataOffset, seals: .readOnly, isPopulated: false)
        header = try RingFault.translated { () throws(RingFault) in
            try RingHeader(reading: memory.base, size: size, dataOffset: dataOffset)
        }
        self.memory = memory
    }
    /// Memory of this process's own, for tests that damage it: its header is read, and its seals are not.
    package init(damaged memory: SealedMemory) throws(RingFault) {
        self.memory = memory
        header = try RingHeader(reading: memory.base, size: memory.size)
    }

    var intent: UnsafeMutableRawPointer { memory.base + RingLayout.intentOffset }
    var tail: UnsafeMutableRawPointer { memory.base + RingLayout.tailOffset }
    var end: UnsafeMutableRawPointer { memory.base + RingLayout.endOffset }
    var index: UnsafeMutableRawPointer { memory.base + RingLayout.indexOffset }
    var data: UnsafeMutableRawPointer { memory.base + header.dataOffset }
}

/// Where what is in a ring. docs/internals/RING.md has the same as a table, and the reasons.
package enum RingLayout {
    package static let version: UInt32 = 2
    /// "RELAYRNG" in the order of the bytes; on a machine of the other byte order it reads differently, as it should.
    package static let magic: UInt64 = 0x474E_5259_414C_4552

    // The first line is written before the memory is sealed, and never again.
    package static let capacityOffset = 16
    package static let epochOffset = 24
    package static let baseOffset = 32
    package static let fingerprintOffset = 40
    package static let directoryOffset = 48
    package static let ringIndexOffset = 56

    // One line each: what changes at different times must not be in one.
    /// Bytes below this minus the capacity may be overwritten any time now.
    package static let intentOffset = 128
    /// Bytes below this are complete.
    package static let tailOffset = 256
    /// Not 0: nothing follows.
    package static let endOffset = 384
    /// The first record that begins in each part of the data.
    package static let indexOffset = 512
    package static let indexCount = 64
    /// The list of events.
    package static let directoryStart = 1_024

    package static let recordHeader = 32
    /// In a record's kind: the event itself was too large for the ring.
    package static let skipped: UInt32 = 0x8000_0000

    package static let defaultCapacity = 4 << 20
    static let maximumCapacity = 1 << 30
    static let maximumDirectory = 1 << 20
    /// The largest file that any header can describe: one page at most follows the list of events.
    package static func maximumSize(page: Int) -> Int {
        ((directoryStart + maximumDirectory + page - 1) & ~(page - 1)) + maximumCapacity
    }

    /// A record as it lies in the ring: its header and its payload in whole words.
    @inline(__always) static func recordSize(_ payload: Int) -> Int { (recordHeader + payload + 7) & ~7 }
    /// No payload is larger, as no message is. A reader's private buffer has room for one such record.
    static let largestPayload = 1 << 20
    /// Larger ones leave a skip record: a reader has two more of the largest, at least, before it is lapped.
    package static func maximumPayload(_ capacity: Int) -> Int { min(capacity / 4 - recordHeader, largestPayload) }
    /// How far a position is shifted to the number of its part of the data.
    static func indexShift(_ capacity: Int) -> Int { (capacity / indexCount).trailingZeroBitCount }

    static func isCapacity(_ capacity: UInt64, page: Int) -> Bool {
        capacity.nonzeroBitCount == 1 && capacity >= UInt64(page) && capacity <= UInt64(maximumCapacity)
    }
}
