/// What an exported durable interface has of its service's log.
struct ServedLog: Sendable {
    let storage: any EventLogStorage
    /// How the bodies of its rows are laid out, by schema number.
    let signatures: [UInt32: Signature]

    /// Throws for a schema that D-Bus cannot carry, which no service can have put there.
    init(_ storage: any EventLogStorage, _ schemas: [UInt32: EventSchema]) throws {
        self.storage = storage
        signatures = try schemas.mapValues { try Stream1.bodySignature($0.fields) }
    }
}
