package import RelayWire

/// Which events of an interface to read.
package struct LogRequest: Hashable, Sendable {
    package let interface: String
    /// nil: all.
    package let names: Set<String>?
    /// Those above it.
    package let after: UInt64
    /// At most so many; at least 1.
    package let limit: Int
    /// At most so many bytes of names, signatures and bodies together, unless the first event alone has more.
    package let byteLimit: Int

    package init(interface: String, names: Set<String>?, after: UInt64, limit: Int, byteLimit: Int) {
        (self.interface, self.names, self.after) = (interface, names, after)
        (self.limit, self.byteLimit) = (limit, byteLimit)
    }
}

/// Where an interface stands in the log when a run of it begins.
package struct LogSnapshot: Sendable {
    package typealias Run = StreamRun
    /// The last sequence that was committed.
    package let head: UInt64
    /// The last sequence of each name: of its last event, or of a gap behind that, where more of it may have been.
    package let last: [String: UInt64]
    /// The highest sequence of each name that was removed.
    package let pruned: [String: UInt64]
    /// The newest runs that the log knows, up to the one that begins.
    package let runs: [Run]
    /// Of all that it knows, as `StreamRun.sample` chooses; nil: `runs` are all.
    package let sample: [Run]?
    /// Every schema that a row may have, by its number. Of several with one event name the highest is the present one.
    package let schemas: [UInt32: EventSchema]
    /// The last entries of documents, by name, whatever was removed.
    package let documents: [String: LoggedDocument]
    /// Documents of a replica whose states are not known: an entry may be missing, of which nothing is left.
    package let unknownDocuments: Set<String>
    /// The journal's identity, which a copy keeps: the epoch of its first run. 0: it has none.
    package let journal: UInt64
    /// The newest of the ranges that the log never had, by rising sequence.
    package let gaps: [ClosedRange<UInt64>]

    package init(
        head: UInt64, last: [String: UInt64], pruned: [String: UInt64], runs: [Run], schemas: [UInt32: EventSchema],
        documents: [String: LoggedDocument] = [:], sample: [Run]? = nil, journal: UInt64 = 0,
        gaps: [ClosedRange<UInt64>] = [], unknownDocuments: Set<String> = []
    ) {
        self.unknownDocuments = unknownDocuments
        (self.head, self.last, self.pruned, self.runs, self.schemas) = (head, last, pruned, runs, schemas)
        (self.documents, self.sample, self.journal, self.gaps) = (documents, sample, journal, gaps)
    }
}

/// A durable interface, as its service gives it to the log.
package struct LoggedInterface: Sendable {
    package let name: String
    /// The number of the run that begins.
    package let epoch: UInt64
    /// Of a mirror, whether its origin may have more of that run than was mirrored; nil: the run is the service's own.
    package let isOpen: Bool?
    package let retention: Retention
    /// Its events, in the order of their numbers, as this version of the service has them.
    package let events: [EventSchema]
    /// The numbers of those that are documents: of each the last entry is kept, whatever the retention.
    package let documents: Set<Int>
    package let stream: any CommittedEventSink
    /// A test's time, by which its events are stamped; nil: the machine's.
    package let clock: ManualClock?

    package init(
        name: String, epoch: UInt64, retention: Retention, events: [EventSchema], documents: Set<Int> = [],
        stream: any CommittedEventSink, clock: ManualClock? = nil, isOpen: Bool? = nil
    ) {
        (self.name, self.epoch, self.retention, self.events, self.stream) = (name, epoch, retention, events, stream)
        self.isOpen = isOpen
        (self.documents, self.clock) = (documents, clock)
    }
}

/// A run of a mirrored interface, which goes on in the mirror.
package struct MirroredRun: Hashable, Sendable {
    package let epoch: UInt64
    /// The origin may have more of it than was mirrored.
    package let isOpen: Bool
    package init(epoch: UInt64, isOpen: Bool) { (self.epoch, self.isOpen) = (epoch, isOpen) }
}

/// What an exported durable interface has of its service's log.
struct ExportedLog: Sendable {
    let storage: any EventLogStorage
    /// How the bodies of its rows are laid out, by schema number.
    let signatures: [UInt32: Signature]

    /// Throws for a schema that D-Bus cannot carry, which no service can have put there.
    init(_ storage: any EventLogStorage, _ schemas: [UInt32: EventSchema]) throws {
        self.storage = storage
        signatures = try schemas.mapValues { try Stream1.bodySignature($0.fields) }
    }
}
