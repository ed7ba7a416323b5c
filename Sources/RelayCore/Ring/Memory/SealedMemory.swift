import CRelayShims
import Glibc

/// Memory behind a descriptor that other processes may hold: of a fixed size, and writable for nobody but its maker when
/// it is sealed so.
///
/// An `O_RDONLY` descriptor would protect nothing: its holder opens it anew through `/proc/self/fd`. Seals hold.
package final class SealedMemory: @unchecked Sendable {  // Immutable; what the memory holds is the users' affair.
    /// To be handed to others, and closed with the memory. -1 for memory that came from another process.
    package let number: Int32
    /// Where the file's first byte is.
    package let base: UnsafeMutableRawPointer
    /// Of the file, in bytes, as far as it is mapped.
    package let size: Int
    /// Bytes of addresses from `base` on: the file, its second view, and the page that nobody can touch.
    private let reserved: Int

    /// memfd_create(2): flags to a descriptor or -errno.
    package typealias Creation = (_ flags: UInt32) -> Int32

    /// Makes memory that this process writes.
    ///
    /// - Parameters:
    ///   - name: for people who look into `/proc`.
    ///   - beginning: how much of it gets memory now; nil: all. The rest is the maker's affair, by `relay_supply`, before
    ///     it is touched.
    ///   - doubled: from there on the file is mapped once more behind its end, so that nothing in it wraps around.
    ///   - fill: writes the first content, before anything is sealed.
    /// Throws `.unavailable` with the kernel's error.
    package init(
        creating name: String, size: Int, beginning: Int? = nil, doubled: Int? = nil, seals: MemorySeals,
        fill: (UnsafeMutableRawPointer) -> Void = { _ in }, via creation: Creation? = nil
    ) throws(RelayError) {
        let descriptor = try Self.create(name, via: creation ?? { relay_memfd_create(name, $0) })
        guard ftruncate(descriptor.number, size) == 0 else { throw Self.failure("cannot size '\(name)'", errno) }
        // Storage now: a page that is missing when it is written to would end the process.
        if beginning == nil { try Self.allocate(descriptor.number, size, name) }
        let (base, reserved) = try Self.map(
            descriptor.number, size, doubled, PROT_READ | PROT_WRITE, isPopulated: beginning == nil)
        if let beginning {
            let failed = relay_supply(base, beginning)
            if failed != 0 {
                munmap(base, reserved)
                throw Self.failure("no memory for \(beginning) bytes of '\(name)'", failed)
            }
        }
        fill(base)
        // The order matters: mapped before no writable mapping can be made, and no other way in when it is handed out.
        let isPrivate = fchmod(descriptor.number, seals.contains(.futureWrite) ? 0o400 : 0o600) == 0
        let sealed = isPrivate ? relay_add_seals(descriptor.number, seals.rawValue) : -errno
        guard sealed == 0 else {
            munmap(base, reserved)
            throw Self.failure("cannot seal '\(name)'", -sealed)
        }
        (self.base, self.size, self.reserved) = (base, size, reserved)
        self.number = descriptor.release()
    }

    /// Maps memory that another process made, after it is certain that it keeps its size.
    ///
    /// The descriptor stays the caller's, and is not needed afterwards.
    ///
    /// - Parameters:
    ///   - size: of the whole file.
    ///   - isPopulated: whether all pages are mapped now, which takes its time; else each is at its first use.
    ///   - mapping: how many bytes of the file are mapped, if not all.
    /// Throws `.invalidArgument` for a descriptor that is not sealed so or is not of this size, with a `RingFault` as
    /// its cause.
    package init(
        receiving number: Int32, size: Int, doubled: Int? = nil, seals: MemorySeals, writable: Bool = false,
        isPopulated: Bool = true, mapping length: Int? = nil
    ) throws(RelayError) {
        let found = try Self.checkedSize(of: number, seals: seals)
        guard found == size else { throw RingFault(.size(found: found, expected: size)).relayError() }
        let access = writable ? PROT_READ | PROT_WRITE : PROT_READ
        let mapped = min(length ?? size, size)
        (base, reserved) = try Self.map(number, mapped, doubled, access, isPopulated: isPopulated)
        self.size = mapped
        self.number = -1
    }
    deinit {
        munmap(base, reserved)
        if number >= 0 { close(number) }
    }

    /// Whether a file has these seals. Never waits.
    static func hasSeals(_ number: Int32, _ seals: MemorySeals) -> Bool {
        let found = relay_get_seals(number)
        return found >= 0 && seals.isSubset(of: MemorySeals(rawValue: found))
    }

    /// TMPFS_MAGIC, linux/magic.h: also of all that memfd_create(2) makes without huge pages.
    private static let ordinaryMemory: UInt32 = 0x0102_1994

    /// The size of a file that cannot change it. Throws `.invalidArgument` for one whose seals lack any of these, and
    /// for one of huge pages.
    package static func checkedSize(of number: Int32, seals: MemorySeals) throws(RelayError) -> Int {
        let found = relay_get_seals(number)
        // EINVAL: another kind of file, which has no seals.
        guard found >= 0 else { throw RingFault(.seals(seals)).relayError(SystemError(-found)) }
        let missing = seals.subtracting(MemorySeals(rawValue: found))
        guard missing.isEmpty else { throw RingFault(.seals(missing)).relayError() }
        // Huge pages have seals, too; but to map a part of them maps a whole one, over what lies behind.
        var type: UInt32 = 0
        let failed = relay_file_system(number, &type)
        guard failed == 0 else { throw failure("cannot look at descriptor \(number)", failed) }
        guard type == Self.ordinaryMemory else { throw RingFault(.fileSystem(type)).relayError() }
        var status = stat()
        guard fstat(number, &status) == 0 else { throw failure("cannot look at descriptor \(number)", errno) }
        return Int(status.st_size)
    }

    private static func create(_ name: String, via creation: Creation) throws(RelayError) -> OwnedDescriptor {
        let (closeOnExec, allowSealing, noExecSeal): (UInt32, UInt32, UInt32) = (1, 2, 8)
        var made = creation(closeOnExec | allowSealing | noExecSeal)
        // Kernels before 6.3 do not know the last one.
        if made == -EINVAL { made = creation(closeOnExec | allowSealing) }
        guard made >= 0 else { throw failure("cannot make the shared memory '\(name)'", -made) }
        let first = OwnedDescriptor(made)
        // Opened for writing by its name, which counts: as long as it is open nobody gets a lease, and an open file is
        // not kept waiting until somebody's lease is broken.
        let counted = open("/proc/self/fd/\(first.number)", O_RDWR | O_CLOEXEC)
        guard counted >= 0 else { throw failure("cannot open the shared memory '\(name)' by /proc", errno) }
        return OwnedDescriptor(counted)
    }

    /// Reserves the addresses first, so that the two views lie in a row; a page that nobody can touch follows.
    private static func map(
        _ number: Int32, _ size: Int, _ doubled: Int?, _ access: Int32, isPopulated: Bool
    ) throws(RelayError) -> (UnsafeMutableRawPointer, Int) {
        let page = Int(getpagesize())
        // Far from where the sums below overflow, and more than any address space has.
        guard 0...(Int.max / 4) ~= size, 0...size ~= doubled ?? 0 else {
            throw failure("cannot map \(size) bytes of descriptor \(number)", EINVAL)
        }
        let rounded = (size + page - 1) & ~(page - 1)
        let second = doubled.map { size - $0 } ?? 0
        let length = rounded + second + page
        guard let base = mmap(nil, length, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), base != MAP_FAILED else {
            throw failure("no addresses for \(length) bytes", errno)
        }
        let flags = MAP_SHARED | MAP_FIXED | (isPopulated ? MAP_POPULATE : 0)
        var isMapped = mmap(base, size, access, flags, number, 0) != MAP_FAILED
        if isMapped, let doubled {
            isMapped = mmap(base + size, second, access, flags, number, doubled) != MAP_FAILED
        }
        guard isMapped else {
            let error = errno
            munmap(base, length)
            throw failure("cannot map \(size) bytes of descriptor \(number)", error)
        }
        return (base, length)
    }
    private static func allocate(_ number: Int32, _ size: Int, _ name: String) throws(RelayError) {
        let failed = relay_allocate(number, Int64(size))
        guard failed == 0 else { throw failure("no memory for the \(size) bytes of '\(name)'", failed) }
    }
    private static func failure(_ what: String, _ code: Int32) -> RelayError {
        RelayError(.unavailable, "\(what): \(SystemError(code))", cause: SystemError(code))
    }
}

/// What nobody can do any more to a file in memory, its maker included.
package struct MemorySeals: OptionSet, Hashable, Sendable {
    package let rawValue: Int32
    package init(rawValue: Int32) { self.rawValue = rawValue }

    /// No more seals.
    package static let seal = Self(rawValue: 0x01)
    /// It cannot be cut short: a mapping of it never faults.
    package static let shrink = Self(rawValue: 0x02)
    package static let grow = Self(rawValue: 0x04)
    /// No write and no new writable mapping; those that exist go on.
    package static let futureWrite = Self(rawValue: 0x10)

    /// Of what one process writes and others read.
    package static let readOnly: Self = [.seal, .shrink, .grow, .futureWrite]
    /// Of what two processes write.
    package static let fixedSize: Self = [.shrink, .grow]
    /// What is added when both have mapped it: nobody takes pages out of it any more.
    package static let settled: Self = [.seal, .futureWrite]
}
