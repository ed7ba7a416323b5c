import CRelayShims
import Glibc
import RelayCore
import RelayWire

/// One channel's open file: its header, its records, and what is written to them.
///
/// Whoever writes has the channel's lock.
final class ChannelFile: Sendable {
    let path: String
    private let descriptor: OwnedDescriptor
    /// Which file that is: another one may come to have its name.
    private let identity: (device: UInt64, inode: UInt64)

    /// Nil: there is no such file.
    init?(at path: String, isWritten: Bool) throws(RelayError) {
        // Not through a link, nor waiting for a FIFO's other end.
        let flags = (isWritten ? O_RDWR : O_RDONLY) | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK
        let number = open(path, flags)
        if number < 0 {
            if errno == ENOENT || errno == ENOTDIR { return nil }
            throw Self.failure("cannot open \(path)", errno)
        }
        let descriptor = OwnedDescriptor(number)
        var status = stat()
        if fstat(number, &status) != 0 { throw Self.failure("cannot examine \(path)", errno) }
        if status.st_mode & S_IFMT != S_IFREG {
            throw RelayError(.invalidArgument, "\(path) is no regular file: remove it")
        }
        self.path = path
        self.descriptor = descriptor
        identity = (UInt64(status.st_dev), UInt64(status.st_ino))
    }
    /// Whether the path still leads here.
    var hasItsName: Bool {
        var status = stat()
        return lstat(path, &status) == 0 && (UInt64(status.st_dev), UInt64(status.st_ino)) == identity
    }

    static func failure(_ what: String, _ number: Int32) -> RelayError {
        let cause = SystemError(number)
        if cause.isFull { return RelayError(.storageFull, "\(what): \(cause); \(cause.storageAdvice)", cause: cause) }
        let code: RelayError.Code = [EACCES, EPERM].contains(number) ? .notPermitted : .unavailable
        return RelayError(code, "\(what): \(cause)\(cause.remedy)", cause: cause)
    }
    func damage(at offset: Int, _ what: String) -> RelayError {
        RelayError(
            .unavailable,
            "\(path) is damaged at byte \(offset), \(what): remove the file; its exporter then begins a new one")
    }

    // MARK: Reading

    /// Nil: it has none that can be read.
    func header() throws(RelayError) -> ChannelHeader? {
        for attempt in 0..<20 {
            let bytes = try read(at: 0, ChannelHeader.size)
            if let header = bytes.withUnsafeBytes({ ChannelHeader($0) }) { return header }
            if bytes.count < ChannelHeader.size { return nil }
            // It may be in the middle of being written.
            if attempt > 0 { usleep(50) }
        }
        return nil
    }
    /// What is there: fewer bytes at the end of the file.
    func read(at offset: Int, _ count: Int) throws(RelayError) -> [UInt8] {
        var failure: Int32 = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            while filled < count {
                // Within the buffer's capacity: `filled` is below `count`.
                let got = pread(descriptor.number, buffer.baseAddress! + filled, count - filled, off_t(offset + filled))
                if got < 0 && errno == EINTR { continue }
                if got < 0 { failure = errno }
                if got <= 0 { return }
                filled += got
            }
        }
        if failure != 0 { throw Self.failure("cannot read \(path)", failure) }
        return bytes
    }
    /// Nil: there is none.
    func record(at offset: Int) throws(RelayError) -> RecordHeader? {
        let bytes = try read(at: offset, RecordHeader.size)
        return bytes.withUnsafeBytes { RecordHeader($0) }
    }

    // MARK: Writing

    func write(_ bytes: [UInt8], at offset: Int) throws(RelayError) {
        var (written, failure): (Int, Int32) = (0, 0)
        bytes.withUnsafeBytes { bytes in
            while written < bytes.count, failure == 0 {
                let count = pwrite(
                    descriptor.number, bytes.baseAddress! + written, bytes.count - written, off_t(offset + written))
                if count > 0 {
                    written += count
                } else if count == 0 || errno != EINTR {
                    failure = count == 0 ? EIO : errno
                }
            }
        }
        if failure != 0 { throw Self.failure("cannot write to \(path)", failure) }
    }
    func write(_ header: ChannelHeader) throws(RelayError) { try write(header.bytes, at: 0) }
    /// Removes what is behind the last record: what somebody began, and did not end.
    func cut(to end: Int) throws(RelayError) {
        var status = stat()
        if fstat(descriptor.number, &status) != 0 { throw Self.failure("cannot examine \(path)", errno) }
        if status.st_size <= off_t(end) { return }
        if ftruncate(descriptor.number, off_t(end)) != 0 { throw Self.failure("cannot cut \(path)", errno) }
    }
    /// Gives the room before an offset back, where that is much more than before.
    func release(from former: Int, to offset: Int) {
        let step = 1 << 20
        let (from, to) = (max(ChannelHeader.start, former / step * step), offset / step * step)
        // Without effect on some file systems: they keep the room.
        if to > from { _ = relay_punch_hole(descriptor.number, Int64(from), Int64(to - from)) }
    }
    func sync() throws(RelayError) {
        if fdatasync(descriptor.number) != 0 { throw Self.failure("cannot sync \(path)", errno) }
    }
}

extension ChannelFile {
    /// Adds a record, and counts it. If it throws, the header is as it was.
    func append(_ message: UnsafeRawBufferPointer, to header: inout ChannelHeader) throws(RelayError) {
        if message.count > RecordHeader.mostBytes {
            throw RelayError(.tooLarge, "a message of \(message.count) bytes: at most \(RecordHeader.mostBytes)")
        }
        let place = RecordPlace(number: header.last.number + 1, offset: header.end)
        let previous = header.has(header.last.number) ? try record(at: header.last.offset)?.length : 0
        guard let previous else { throw damage(at: header.last.offset, "the last message's place") }
        let isSnapshot = MirrorHeader.kind(of: message) == .snapshot
        let record = RecordHeader(
            message, number: place.number, previous: previous, snapshot: isSnapshot ? place : header.snapshot,
            chain: header.chain)
        var writer = WireWriter(capacity: record.stride)
        record.write(into: &writer)
        writer.append(message)
        writer.align(8)
        do throws(RelayError) { try write(writer.takeBytes(), at: header.end) } catch {
            // What is left is cut off by the next one.
            try? cut(to: header.end)
            throw error
        }
        var next = header
        (next.last, next.end, next.chain, next.snapshot) = (
            place, header.end + record.stride, record.chain, record.snapshot
        )
        try write(next)
        header = next
    }
    /// Removes messages from the beginning.
    func remove(through number: UInt64, _ header: inout ChannelHeader) throws(RelayError) {
        var next = header
        while next.first.number <= min(number, header.last.number) {
            guard let record = try record(at: next.first.offset), record.number == next.first.number else {
                throw damage(at: next.first.offset, "message \(next.first.number)")
            }
            next.first = RecordPlace(number: record.number + 1, offset: next.first.offset + record.stride)
        }
        if next.first == header.first { return }
        if next.snapshot.number < next.first.number { next.snapshot = .none }
        try write(next)
        release(from: header.first.offset, to: next.first.offset)
        header = next
    }
    /// Forgets all messages behind one: numbers are used again.
    func forget(behind kept: RecordPlace, _ header: inout ChannelHeader) throws(RelayError) {
        var next = ChannelHeader(generation: ChannelHeader.newGeneration())
        if kept.number >= header.first.number {
            guard let record = try record(at: kept.offset), record.number == kept.number else {
                throw damage(at: kept.offset, "message \(kept.number)")
            }
            (next.first, next.last, next.end) = (header.first, kept, kept.offset + record.stride)
            (next.chain, next.snapshot) = (record.chain, record.snapshot)
            if next.snapshot.number < next.first.number { next.snapshot = .none }
            next.synced = header.synced.number <= kept.number ? header.synced : kept
        } else {
            (next.first, next.end) = (header.first, header.first.offset)
            (next.last, next.chain) = (RecordPlace(number: header.first.number - 1, offset: 0), next.generation)
        }
        try write(next)
        try cut(to: next.end)
        header = next
    }
    /// Looks at all that is not known to be on the disk, and forgets what is behind the first message that is not as it
    /// was written: a machine has died.
    func check(_ header: inout ChannelHeader) throws(RelayError) {
        // From the synced one on, if that is there.
        var place = header.first
        var (chain, kept): (UInt64?, RecordPlace) = (nil, RecordPlace(number: header.first.number - 1, offset: 0))
        if header.has(header.synced.number), let record = try record(at: header.synced.offset),
            record.number == header.synced.number
        {
            kept = header.synced
            place = RecordPlace(number: kept.number + 1, offset: kept.offset + record.stride)
            chain = record.chain
        }
        while place.number <= header.last.number {
            guard let record = try record(at: place.offset), record.number == place.number,
                place.offset + record.stride <= header.end, chain.map(record.follows) ?? true,
                try read(at: place.offset + RecordHeader.size, record.length).withUnsafeBytes({
                    $0.count == record.length && RecordHeader.check($0) == record.check
                })
            else { return try forget(behind: kept, &header) }
            (kept, chain) = (place, record.chain)
            place = RecordPlace(number: place.number + 1, offset: place.offset + record.stride)
        }
        try cut(to: header.end)
    }
}
