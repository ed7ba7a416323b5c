import RelayCore
import RelayWire

/// What a replica knows of an interface: events of any name may come, by the numbers of their schemas.
struct ReplicaParts {
    struct Layout {
        let schema: EventSchema
        /// How a body's fields are passed over.
        let skip: WireSkip
        /// The place of its name.
        let name: Int
    }
    /// By the schemas' numbers.
    var layouts: [UInt32: Layout] = [:]
    /// In `InterfaceState.names`.
    var places: [String: Int] = [:]
    /// The places of names that are documents.
    var documents: Set<Int> = []

    /// The number of a schema, which may have one of those that stand for no row: then that of the same one which rows
    /// have; nil: it is not known.
    static func number(
        _ number: UInt32, among schemas: [UInt32: EventSchema], _ known: [UInt32: EventSchema]
    ) -> UInt32? {
        if number < JournalEngine.firstRepetition { return known[number] == nil ? nil : number }
        guard let schema = schemas[number] else { return nil }
        return known.filter { $0.value == schema }.keys.max()
    }
}

/// The service that is attached to a replica, with an interface.
struct ServedReplica {
    let epoch: UInt64
    /// The service's numbers for its events, by the numbers of their schemas. It has no other events.
    let events: [UInt32: Int]
    /// It has documents.
    let hasDocuments: Bool
}

/// Where the events of an interface leave that no service serves: nowhere.
final class NoService: CommittedEventSink {
    func emit(_ events: [(event: LoggedEvent, stamp: Stamp)]) {}
    func pruned(_ last: [String: UInt64]) {}
}
