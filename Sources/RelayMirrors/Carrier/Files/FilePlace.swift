import Glibc
import RelayCore
/// Where a channel's file is, and how it is kept.
struct FilePlace: Sendable {
    /// The channel's own, with the file of its messages and that of the lock.
    let directory: String
    /// The carrier's.
    let base: String
    /// How many bytes of messages stay; nil: all of them.
    let limit: Int?
    /// How long what was appended may stay without the disk; nil: nobody syncs.
    let syncInterval: Duration?
    var path: String { directory + "/messages" }
    /// What was there, and had no header that can be read.
    var damagedPath: String { directory + "/messages.damaged" }
    /// How long another process may have the lock: it never needs so long.
    private static let patience = Duration.seconds(10)

    init(_ base: String, _ channel: ChannelName, limit: Int?, syncInterval: Duration?) {
        // Names have neither slashes nor parts that are empty.
        directory = "\(base)/\(channel.host)/\(channel.service)/\(channel.interface)"
        (self.base, self.limit, self.syncInterval) = (base, limit, syncInterval)
    }

    // MARK: The lock

    /// Runs a body with the channel's lock. Waits while another connection has it.
    func locked<Value>(_ body: () throws(RelayError) -> Value) async throws(RelayError) -> Value {
        let lock = try openLock()
        let deadline = MonotonicClock.deadline(after: Self.patience)
        while flock(lock.number, LOCK_EX | LOCK_NB) != 0 {
            let failure = errno
            if failure == EINTR { continue }
            if failure != EWOULDBLOCK { throw ChannelFile.failure("cannot lock \(directory)/lock", failure) }
            try checkPatience(deadline)
            await OwnTimer.sleep(for: .milliseconds(1))
        }
        defer { Self.unlock(lock) }
        return try body()
    }
    /// The same, where nothing can be awaited.
    func lockedNow<Value>(_ body: () throws(RelayError) -> Value) throws(RelayError) -> Value {
        let lock = try openLock()
        let deadline = MonotonicClock.deadline(after: Self.patience)
        while flock(lock.number, LOCK_EX | LOCK_NB) != 0 {
            try checkPatience(deadline)
            usleep(1_000)
        }
        defer { Self.unlock(lock) }
        return try body()
    }
    private func checkPatience(_ deadline: UInt64) throws(RelayError) {
        if MonotonicClock.now < deadline { return }
        throw RelayError(
            .unavailable, "another process has had \(directory)/lock for \(Self.patience): look what keeps it")
    }
    /// For each use: a lock belongs to the open file, so that others of this process are kept out, too.
    private func openLock() throws(RelayError) -> OwnedDescriptor {
        let path = directory + "/lock"
        let number = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o600)
        if number < 0 { throw ChannelFile.failure("cannot open \(path)", errno) }
        return OwnedDescriptor(number)
    }
    /// Not by closing alone: a child that was forked a moment ago has the file open, too.
    private static func unlock(_ lock: borrowing OwnedDescriptor) {
        while flock(lock.number, LOCK_UN) != 0 && errno == EINTR {}
    }

    // MARK: The file

    /// Makes the file where there is none, and forgets what is not as it was written.
    func openForWriting() throws(RelayError) -> (file: ChannelFile, header: ChannelHeader) {
        try makeDirectories()
        return try lockedNow { () throws(RelayError) in
            for _ in 0..<2 {
                if let file = try ChannelFile(at: path, isWritten: true) {
                    if var header = try file.header() {
                        try file.check(&header)
                        return (file, header)
                    }
                    if rename(path, damagedPath) != 0 { throw ChannelFile.failure("cannot rename \(path)", errno) }
                }
                try make()
            }
            throw RelayError(.unavailable, "\(path) cannot be read although it was just made")
        }
    }
    private func make() throws(RelayError) {
        let new = path + ".new"
        let number = open(new, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o600)
        if number < 0 { throw ChannelFile.failure("cannot make \(new)", errno) }
        _ = OwnedDescriptor(number)
        guard let file = try ChannelFile(at: new, isWritten: true) else {
            throw RelayError(.unavailable, "\(new) was removed")
        }
        try file.write(ChannelHeader(generation: ChannelHeader.newGeneration()))
        if rename(new, path) != 0 { throw ChannelFile.failure("cannot rename \(new)", errno) }
    }
    private func makeDirectories() throws(RelayError) {
        var made = base
        try Self.makeDirectory(made)
        for part in directory.dropFirst(base.count + 1).split(separator: "/") {
            made += "/" + part
            try Self.makeDirectory(made)
        }
    }
    static func makeDirectory(_ path: String) throws(RelayError) {
        if mkdir(path, 0o700) == 0 || errno == EEXIST { return }
        throw ChannelFile.failure("cannot make the directory \(path)", errno)
    }
    /// Removes messages from the beginning, until there are much fewer than so many bytes: seldom, for many.
    func remove(
        to limit: Int, _ file: ChannelFile, _ header: inout ChannelHeader
    ) throws(RelayError) {
        var (number, offset) = (header.first.number, header.first.offset)
        // The last one stays.
        while number < header.last.number, header.end - offset > limit - limit / 8 {
            guard let record = try file.record(at: offset) else { throw file.damage(at: offset, "message \(number)") }
            (number, offset) = (number + 1, offset + record.stride)
        }
        try file.remove(through: number - 1, &header)
    }
}
