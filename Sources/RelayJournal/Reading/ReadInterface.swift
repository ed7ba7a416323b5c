import RelayCore
import RelayWire

/// What a reader knows of an interface before it looks.
struct ReadInterface: Sendable {
    struct Schema: Sendable {
        let name: String
        /// What an event costs of a page beside its body: name, signature, numbers, padding.
        let overhead: Int
    }
    let id: Int64
    /// The present one.
    let run: StreamRun
    /// By number.
    let schemas: [UInt32: Schema]
    /// Which `LogSnapshot.journal` is.
    let journal: UInt64

    init(id: Int64, _ run: LogSnapshot) {
        (self.id, journal) = (id, run.journal)
        self.run = run.runs.last ?? StreamRun(epoch: 0, first: 1)
        schemas = run.schemas.mapValues { schema in
            let signature = schema.fields.reduce(5) { $0 + $1.type.signature.utf8.count }
            return Schema(name: schema.event, overhead: schema.event.utf8.count + signature + 32)
        }
    }
}
