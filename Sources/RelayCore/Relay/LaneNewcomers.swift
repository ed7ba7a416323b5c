/// Names that a lane came to follow while it was behind: what it still has to read holds events of theirs from before they
/// were wanted, which nobody is to see.
struct LaneNewcomers: Hashable {
    private struct Entry: Hashable {
        /// The names that were followed before; nil: all.
        let old: Set<String>?
        /// Up to here events of other names are from before; nil: up to the head that the next answer tells.
        var through: UInt64?
    }
    private var entries: [Entry] = []

    mutating func add(beyond old: Set<String>?, through: UInt64?) { entries.append(Entry(old: old, through: through)) }
    /// The service has answered.
    mutating func resolve(_ head: UInt64) {
        for index in entries.indices where entries[index].through == nil { entries[index].through = head }
    }
    /// They count from wherever the lane goes on: the run that comes is one that they waited for.
    mutating func admitUnresolved() { entries.removeAll { $0.through == nil } }
    /// The lane has caught up, or the sequences are others'.
    mutating func removeResolved() { if !entries.isEmpty { entries.removeAll { $0.through != nil } } }
    mutating func removeAll() { entries = [] }

    @inline(__always) var isEmpty: Bool { entries.isEmpty }
    func exclude(_ name: String, _ sequence: UInt64) -> Bool {
        entries.contains { entry in
            guard let through = entry.through, let old = entry.old else { return false }
            return sequence <= through && !old.contains(name)
        }
    }
}
