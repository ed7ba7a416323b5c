/// Where a stream begins, before it has attached for the first time.
package enum StreamStart: Hashable, Sendable {
    /// With what comes from now on.
    case now
    /// With the oldest event that can be read.
    case oldest
    /// Accounted for up to here, in whatever history the service has.
    case at(UInt64)
    /// Where a subscriber stopped, and the runs that led there, as far as they are known.
    case after(epoch: UInt64, sequence: UInt64, runs: [StreamRun] = [])
}

/// Which events of an interface a relay asks the bus for, and so how it finds out that one is missing.
///
/// One name: each event names its predecessor of the same name. More: all events of the interface come, and their
/// sequences have no holes; what nobody asked for is dropped here. Nothing in between: with some names of many, an
/// event that was lost could show only after later ones of other names had been delivered.
package enum NameScope: Hashable, Sendable {
    case nothing
    case one(String)
    case all

    /// - Parameter names: nil stands for every event of the interface.
    package init(names: Set<String>?) {
        guard let names else {
            self = .all
            return
        }
        switch names.count {
        case 0: self = .nothing
        case 1: self = names.first.map { .one($0) } ?? .nothing
        default: self = .all
        }
    }
    /// The argument of `Attach`, as far as this room knows it: for `.all` the names are the interface's.
    @inline(__always) func includes(_ name: String) -> Bool {
        switch self {
        case .nothing: false
        case .one(let mine): mine == name
        case .all: true
        }
    }
}

/// What subscribers want of an interface, and whether that has been answered.
enum StreamScope: Hashable {
    case nothing
    case one(String)
    /// More names than one; nil: every event.
    case all(Set<String>?)
    /// More names are wanted, and no answer has shown yet from where they count. Until then holes are found as with the
    /// one name.
    case widening(from: String, to: Set<String>?)

    init(_ names: Set<String>?) {
        switch NameScope(names: names) {
        case .nothing: self = .nothing
        case .one(let name): self = .one(name)
        case .all: self = .all(names)
        }
    }
    /// What is wanted.
    var names: Set<String>? {
        switch self {
        case .nothing: []
        case .one(let name): [name]
        case .all(let names), .widening(_, let names): names
        }
    }
    var wanted: NameScope {
        switch self {
        case .nothing: .nothing
        case .one(let name): .one(name)
        case .all, .widening: .all
        }
    }
    /// How holes are found.
    var answered: NameScope {
        switch self {
        case .nothing: .nothing
        case .one(let name), .widening(let name, _): .one(name)
        case .all: .all
        }
    }
    var isAll: Bool { if case .all = self { true } else { false } }
    var isWidening: Bool { if case .widening = self { true } else { false } }

    @inline(__always) func includes(_ name: String) -> Bool {
        switch self {
        case .nothing: false
        case .one(let mine), .widening(let mine, _): mine == name
        case .all: true
        }
    }
    /// The same with other names, of the same `NameScope`.
    mutating func replaceNames(_ names: Set<String>?) {
        switch self {
        case .nothing, .one: break
        case .all: self = .all(names)
        case .widening(let name, _): self = .widening(from: name, to: names)
        }
    }
    /// Nil: the new names are not wider.
    func widened(to names: Set<String>?) -> Self? {
        switch self {
        case .one(let name), .widening(let name, _):
            NameScope(names: names) == .all ? .widening(from: name, to: names) : nil
        case .nothing, .all: nil
        }
    }
    /// The wider scope counts.
    mutating func settle() { if case .widening(_, let names) = self { self = .all(names) } }
}

/// The runs that led to a place, out of what services have reported.
///
/// A run has one past only, whatever journal reports it. So the newest report that has a run names all before it.
struct RunLineage: Hashable, Sendable {
    /// Newest first.
    private var reports: [[StreamRun]] = []
    /// How many are kept: events of a former history may be still on their way to a subscriber.
    private static let limit = 4

    mutating func learn(_ runs: [StreamRun]) {
        if runs.isEmpty { return }
        reports.removeAll { $0 == runs }
        reports.insert(runs, at: 0)
        if reports.count > Self.limit { reports.removeLast() }
    }
    /// The runs up to `epoch`, which is the last of them; empty: unknown.
    func ancestry(of epoch: UInt64) -> [StreamRun] {
        // What a report leaves out has the epoch 0, as a position of no run has.
        if epoch == 0 { return [] }
        for report in reports {
            if let index = report.lastIndex(where: { $0.epoch == epoch }) {
                return Array(report[...index].suffix(StreamRun.most))
            }
        }
        return []
    }
    /// Nothing is asked any more but of this run, and of those in the latest report.
    mutating func narrow(to epoch: UInt64) {
        guard let place = reports.firstIndex(where: { $0.contains { $0.epoch == epoch } }) else {
            return reports.removeLast(max(0, reports.count - 1))
        }
        reports = place == 0 ? [reports[0]] : [reports[0], reports[place]]
    }
}

/// Names that a stream came to follow while it was behind: what it still has to read holds events of theirs from before
/// they were wanted, which nobody is to see.
struct LateNames: Hashable {
    private struct Entry: Hashable {
        /// The names that were followed before; nil: all.
        let old: Set<String>?
        /// Up to here events of other names are from before; nil: up to the head of the next answer.
        var through: UInt64?
    }
    private var entries: [Entry] = []

    mutating func add(beyond old: Set<String>?, through: UInt64?) { entries.append(Entry(old: old, through: through)) }
    /// The service has answered.
    mutating func resolve(_ head: UInt64) {
        for index in entries.indices where entries[index].through == nil { entries[index].through = head }
    }
    /// They count from wherever the stream goes on: the run that comes is one that they waited for.
    mutating func admitUnresolved() { entries.removeAll { $0.through == nil } }
    /// The stream has caught up, or the sequences are others'.
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
