import Glibc

/// A ring's memory, mapped: header, data, and the data once more, so that no record wraps around.
package struct RingArea: Sendable {
    package let memory: SealedMemory
    package let header: RingHeader

    /// Makes the memory of a new ring. Throws `.unavailable` when there is none to be had.
    package init(creating name: String, _ header: RingHeader) throws(RelayError) {
        memory = try SealedMemory(
            creating: name, size: header.size, doubled: header.dataOffset, seals: .readOnly, fill: header.write)
        self.header = header
    }
    /// Maps another process's ring, read-only; and shows its maker that the descriptor has come, whatever it is.
    ///
    /// Throws `.invalidArgument` with a `RingFault` as its cause for a descriptor that is no sealed ring of a known layout.
    package init(receiving descriptor: Int32) throws(RelayError) {
        RingReceipt.acknowledge(descriptor)
        let size = try SealedMemory.checkedSize(of: descriptor, seals: .readOnly)
        let page = Int(getpagesize())
        guard size >= 2 * page else { throw RingFault(.size(found: size, expected: 2 * page)).relayError() }
        guard size <= RingLayout.maximumSize(page: page) else { throw RingFault(.tooLarge(size)).relayError() }
        try SealedMemory.checkAllocated(descriptor, size: size)
        // One page, to see how the file is divided: that decides how it is mapped.
        let first = try SealedMemory(receiving: descriptor, size: size, seals: .readOnly, mapping: page)
        let (dataOffset, capacity) = try RingFault.translated { () throws(RingFault) in
            try RingHeader.division(reading: first.base, size: size)
        }
        let memory = try SealedMemory(
            receiving: descriptor, size: size, doubled: dataOffset, seals: .readOnly,
            isPopulated: capacity <= RingLayout.populated)
        header = try RingFault.translated { () throws(RingFault) in
            try RingHeader(reading: memory.base, size: size, dataOffset: dataOffset)
        }
        self.memory = memory
    }
    /// Memory of this process's own, for tests that damage it: as above, without a look at seals.
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
