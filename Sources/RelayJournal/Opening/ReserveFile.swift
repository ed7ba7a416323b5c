import Glibc

/// Room that is kept for the time when the disk is full: deleting and checkpointing need some.
struct ReserveFile {
    static let size = 1 << 20
    let path: String
    private let faults: JournalFaults
    /// Whether it is there, in its full size.
    private(set) var isThere = false
    /// Why it could not be made last, as an errno.
    private(set) var refusal = ENOSPC

    init(in directory: String, faults: JournalFaults) {
        (path, self.faults) = (directory + "/reserve", faults)
    }
    /// Whether there is a file of its size, from before.
    var isPresent: Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_size >= off_t(Self.size)
    }
    /// Takes the room, if there is any. Returns whether it has it.
    mutating func make() -> Bool {
        if isThere { return true }
        if let take = faults.reserve, !take(true) { return false }
        let descriptor = open(path, O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { return false }
        let failure = posix_fallocate(descriptor, 0, off_t(Self.size))
        close(descriptor)
        isThere = failure == 0
        // A disk that cannot be written is noticed by the commits, and reported by their errors.
        refusal = [EDQUOT, EFBIG].contains(failure) ? failure : ENOSPC
        // A part of it is of no use, and others may need the room.
        if !isThere { release() }
        return isThere
    }
    /// Gives the room back.
    mutating func release() {
        unlink(path)
        _ = faults.reserve?(false)
        isThere = false
    }
    /// Whether the disk is so full that the reserve may soon be needed.
    var isNear: Bool {
        if let room = faults.room { return room() < Self.nearness }
        return DiskRoom.free(at: path) ?? 0 < UInt64(Self.nearness)
    }
    private static let nearness = 16 << 20
    /// Whether as much is free beside the reserve: with less, the next commits may find the disk full.
    var hasRoomBeside: Bool {
        if let room = faults.room { return room() >= Self.size }
        return DiskRoom.free(at: path) ?? .max >= UInt64(Self.size)
    }
}
