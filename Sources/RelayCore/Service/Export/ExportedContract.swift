import RelayWire

/// What a service answers to `Contract`: made once, as it never changes while the service runs.
struct ExportedContract: Sendable {
    /// What a message has room for, with its header.
    private static let limit = WireLimits.defaultMessageLength - 1_024
    let id: ContractID
    /// The body of the answer.
    let body: [UInt8]
    let signature: Signature

    /// Throws `TooLarge` for interfaces whose contracts have no room in one message.
    init(_ interfaces: [ExportedInterface]) throws(RelayError) {
        let contracts = Dictionary(interfaces.map { ($0.name, $0.contract.text) }) { first, _ in first }
        try self.init(ContractID(interfaces.map(\.contract)), contracts)
    }
    /// - Parameter contracts: the texts, by the names of their interfaces.
    init(_ id: ContractID, _ contracts: [String: String]) throws(RelayError) {
        self.id = id
        signature = try Signature(Stream1.contractSignature)
        var writer = WireWriter(capacity: 4_096)
        try Stream1.write(id, contracts, into: &writer)
        if writer.count > Self.limit {
            throw RelayError(
                .tooLarge,
                "the contracts of the exported interfaces have \(writer.count) bytes together, and a relay reads them in "
                    + "one message of \(Self.limit): export some of the interfaces by a service of their own")
        }
        body = writer.bytes
    }
}
