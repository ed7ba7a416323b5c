package import RelayCore
package import RelayWire

/// What changes in a replica at once: all of it, or nothing.
package struct ReplicaTransaction: Sendable {
    /// One after the other; several may be of one interface.
    package var parts: [Part]
    package init(_ parts: [Part]) { self.parts = parts }

    /// What changes in one interface, in the order of these fields.
    package struct Part: Sendable {
        package let interface: String
        /// The history is another one above this sequence: what is there is removed. A gap that reaches over it is cut.
        package var keepsThrough: UInt64?
        /// The origin's runs, up to the one that the replica is in after this part: in place of those that are there.
        /// nil: they stay, but for those that `keepsThrough` leaves without a place.
        package var runs: [StreamRun]?
        /// The replica begins behind this sequence: what was before counts as removed by retention. Of one that is empty.
        package var base: UInt64?
        /// The replica never had these, and will not. They follow what is there.
        package var gap: ClosedRange<UInt64>?
        /// Those that are new are stored under their own numbers. Numbers from 2^31 on, which are of no event, are not.
        package var schemas: [UInt32: EventSchema] = [:]
        /// They follow what is there, and the gap.
        package var events: ReplicaEvents?
        package var states: ReplicaStates?
        /// What the mirror keeps, for `ReplicaJournal.states`; nil: it stays.
        package var state: [UInt8]?

        package init(_ interface: String) { self.interface = interface }
    }
}

/// Consecutive events of one run, where they lie.
package struct ReplicaEvents: Sendable {
    package struct Event: Sendable {
        package let schema: UInt32
        /// A signal's whole body, in `bytes`: the fields, then the stamp.
        package let body: Range<Int>
        package init(schema: UInt32, body: Range<Int>) { (self.schema, self.body) = (schema, body) }
    }
    package let epoch: UInt64
    /// The sequence of the first one.
    package let first: UInt64
    package let events: [Event]
    package let bytes: [UInt8]

    package init(epoch: UInt64, first: UInt64, _ events: [Event], in bytes: [UInt8]) {
        (self.epoch, self.first, self.events, self.bytes) = (epoch, first, events, bytes)
    }
}

/// What a snapshot says beside the history.
package struct ReplicaStates: Sendable {
    package struct Document: Sendable {
        package let name: String
        /// Of the entry that set the state; 0: it was never set.
        package let sequence: UInt64
        package let schema: UInt32
        /// The fields, as `GetDocument` returns them.
        package let fields: [UInt8]
        package init(name: String, sequence: UInt64, schema: UInt32, fields: [UInt8]) {
            (self.name, self.sequence, self.schema, self.fields) = (name, sequence, schema, fields)
        }
    }
    /// All of this was so at the origin when it had come at least to here.
    package let position: UInt64
    /// The names of the interface, with the last sequence of each.
    package var last: [String: UInt64]
    /// All documents of the interface. One whose sequence the replica has not come to comes with its event.
    package var documents: [Document]

    package init(position: UInt64, last: [String: UInt64] = [:], documents: [Document] = []) {
        (self.position, self.last, self.documents) = (position, last, documents)
    }
}

/// How much a replica keeps, whatever its origin keeps.
package struct ReplicaRetention: Sendable {
    package var all: Retention
    /// By interface.
    package var exceptions: [String: Retention]
    package init(_ all: Retention = Retention(), exceptions: [String: Retention] = [:]) {
        (self.all, self.exceptions) = (all, exceptions)
    }
    func of(_ interface: String) -> Retention { exceptions[interface] ?? all }
}
