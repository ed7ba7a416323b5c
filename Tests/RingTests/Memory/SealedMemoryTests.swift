import CRelayShims
import CRingAttack
import Glibc
import RelayCore
import TestTraits
import Testing
@Suite("Sealed memory", .heavy, .tags(.g8)) struct SealedMemoryTests {
    @Test("a share of a ring has flags of its own, can be read, and no more") func shares() throws {
        let pair = try Pair()
        let (first, second) = (try RingShare(pair.writer), try RingShare(pair.writer))
        try pair.publish([1, 2, 3])
        // As it comes over a bus: another number for the same.
        let passed = dup(first.descriptor)
        defer { close(passed) }
        var reader = RingReader(try RingArea(receiving: passed), after: 0)
        #expect(try reader.drain().payloads == [[1, 2, 3]])
        #expect(fcntl(passed, F_SETFL, O_NONBLOCK) == 0)
        #expect(fcntl(first.descriptor, F_GETFL) & O_NONBLOCK != 0)
        #expect(fcntl(second.descriptor, F_GETFL) & O_NONBLOCK == 0)
        #expect(mmap(nil, 4_096, PROT_READ | PROT_WRITE, MAP_SHARED, passed, 0) == MAP_FAILED)
        #expect(write(passed, "x", 1) == -1)
        // Nor can the next opening be kept waiting.
        #expect(attack_lease(passed) != 0)
    }
    @Test("has all seals, its mode and its size, and lies there twice") func creation() throws {
        let memory = try SealedMemory(creating: "test", size: 12_288, doubled: 4_096, seals: .readOnly) {
            $0.storeBytes(of: 77, as: UInt64.self)
        }
        #expect(try SealedMemory.checkedSize(of: memory.number, seals: .readOnly) == 12_288)
        var status = stat()
        #expect(fstat(memory.number, &status) == 0 && status.st_mode & 0o7777 == 0o400)
        #expect(fcntl(memory.number, F_GETFD) & FD_CLOEXEC != 0)
        #expect(memory.base.load(as: UInt64.self) == 77)
        memory.base.storeBytes(of: 5, toByteOffset: 4_096, as: UInt64.self)
        #expect(memory.base.load(fromByteOffset: 12_288, as: UInt64.self) == 5)
        memory.base.storeBytes(of: 6, toByteOffset: 12_288 + 8_184, as: UInt64.self)
        #expect(memory.base.load(fromByteOffset: 12_280, as: UInt64.self) == 6)
        let received = try SealedMemory(receiving: memory.number, size: 12_288, doubled: 4_096, seals: .readOnly)
        #expect(received.base.load(fromByteOffset: 12_288, as: UInt64.self) == 5)
    }
    @Test("does without the newest flag where the kernel does not know it") func oldKernel() throws {
        var asked: [UInt32] = []
        func create(_ flags: UInt32) -> Int32 {
            asked.append(flags)
            return flags & 8 != 0 ? -EINVAL : relay_memfd_create("test", flags)
        }
        let memory = try SealedMemory(creating: "test", size: 4_096, seals: .readOnly, via: create)
        #expect(asked == [11, 3])
        #expect(try SealedMemory.checkedSize(of: memory.number, seals: .readOnly) == 4_096)
        #expect(throws: RelayError.self) {
            _ = try SealedMemory(creating: "test", size: 4_096, seals: .readOnly, via: { _ in -EMFILE })
        }
    }
    @Test("is refused without any one of its seals, in another size, and as another kind of file") func refusals()
        throws
    {
        for missing: MemorySeals in [.shrink, .grow, .futureWrite] {
            let weak = try SealedMemory(creating: "weak", size: 8_192, seals: MemorySeals.readOnly.subtracting(missing))
            #expect(throws: RelayError.self) { _ = try RingArea(receiving: weak.number) }
            #expect(fault { _ = try RingArea(receiving: weak.number) } == .seals(missing))
        }
        let page = try SealedMemory(creating: "page", size: 8_192, seals: .fixedSize)
        #expect(fault { _ = try RingWaiter(receiving: page.number) } == .size(found: 8_192, expected: 4_096))
        #expect(fault { _ = try RingArea(receiving: page.number) } == .seals(.settled))
        let empty = try SealedMemory(creating: "page", size: 4_096, seals: .fixedSize)
        #expect(fault { _ = try RingWaiter(receiving: empty.number) } == .magic(0))
        var ends: [Int32] = [0, 0]
        try #require(pipe(&ends) == 0)
        defer { for end in ends { close(end) } }
        #expect(fault { _ = try RingArea(receiving: ends[0]) } == .seals(.readOnly))
        #expect(fault { _ = try RingArea(receiving: -1) } == .seals(.readOnly))
        let file = open("/proc/self/exe", O_RDONLY)
        defer { close(file) }
        #expect(fault { _ = try RingArea(receiving: file) } == .seals(.readOnly))
    }
    @Test("lets its maker write and nobody else") func sealed() throws {
        let memory = try SealedMemory(creating: "test", size: 8_192, seals: .readOnly)
        #expect(attack_writable_mapping(memory.number, 8_192) != 0)
        #expect(attack_mprotect(memory.number, 8_192) != 0)
        #expect(attack_write(memory.number) != 0)
        #expect(attack_reopen(memory.number) != 0)
        memory.base.storeBytes(of: 9, as: UInt64.self)
        #expect(memory.base.load(as: UInt64.self) == 9)
    }
    @Test("closes and unmaps, also when it could not be made") func leaks() throws {
        // By their name: other tests open and close beside this one.
        func count() -> Int {
            var link = [CChar](repeating: 0, count: 64)
            return (0..<Int32(4_096)).count { descriptor in
                let length = readlink("/proc/self/fd/\(descriptor)", &link, link.count)
                let bytes = link.prefix(max(0, length)).map { UInt8(bitPattern: $0) }
                return String(decoding: bytes, as: UTF8.self).hasPrefix("/memfd:leak-test")
            }
        }
        let kept = try SealedMemory(creating: "leak-test", size: 8_192, seals: .readOnly)
        for _ in 0..<200 {
            _ = try SealedMemory(creating: "leak-test", size: 8_192, doubled: 4_096, seals: .readOnly)
            _ = try? SealedMemory(creating: "leak-test", size: -1, seals: .readOnly)
        }
        #expect(count() == 1)
        withExtendedLifetime(kept) {}
    }
}

/// The fault beneath what `body` throws.
func fault(_ body: () throws -> Void) -> RingFault.Problem? {
    do { try body() } catch let error as RelayError { return (error.cause as? RingFault)?.problem } catch let error
        as RingFault
    { return error.problem } catch {}
    return nil
}
