import RelayCore
import RelayWire

/// The contracts of an origin's runs, as their snapshots bring them.
struct ContractsOfRuns: Hashable, Sendable {
    private(set) var byEpoch: [UInt64: String]

    init(_ byEpoch: [UInt64: String] = [:]) { self.byEpoch = byEpoch }

    mutating func learn(_ snapshot: MirrorSnapshot) {
        if let epoch = snapshot.table.runs.last?.epoch, !snapshot.contract.isEmpty {
            byEpoch[epoch] = snapshot.contract
        }
    }
    /// The run's own, or that of the next one that is known; nil: none is.
    func contract(of epoch: UInt64, in runs: [StreamRun]) -> String? {
        runs.drop { $0.epoch != epoch }.lazy.compactMap { byEpoch[$0.epoch] }.first
    }
    /// Keeps those of a run and of what follows it.
    mutating func drop(before epoch: UInt64, in runs: [StreamRun]) {
        let kept = Set(runs.drop { $0.epoch != epoch }.map(\.epoch))
        byEpoch = byEpoch.filter { kept.contains($0.key) }
    }
}

/// What a mirror keeps of an interface beside its events, in the same transaction.
struct KeptPlace: Hashable, Sendable {
    var replica = ReplicaState()
    var contracts = ContractsOfRuns()

    init(replica: ReplicaState = ReplicaState(), contracts: ContractsOfRuns = ContractsOfRuns()) {
        (self.replica, self.contracts) = (replica, contracts)
    }

    // MARK: Bytes

    private static let version: UInt32 = 1

    func bytes() throws(RelayError) -> [UInt8] {
        var writer = WireWriter(capacity: 256 + replica.table.size)
        writer.uint32(Self.version)
        try replica.write(into: &writer)
        let texts = writer.beginArray(elementAlignment: 8)
        for (epoch, text) in contracts.byEpoch.sorted(by: { $0.key < $1.key }) {
            writer.align(8)
            writer.uint64(epoch)
            try writer.string(text)
        }
        try writer.endArray(texts)
        return writer.takeBytes()
    }
    /// Throws `.unavailable` for bytes that are none: the file is damaged, or of a newer version.
    init(_ bytes: [UInt8]) throws(RelayError) {
        do {
            self = try bytes.withUnsafeBytes { bytes in
                var reader = WireReader(bytes)
                return try Self(&reader)
            }
        } catch {
            throw RelayError(
                .unavailable,
                "what a mirror has kept of its place cannot be read: \(error); remove the mirror's directory, and it "
                    + "is built again from its carrier", cause: error)
        }
    }
    private init(_ reader: inout WireReader) throws {
        let version = try reader.uint32()
        guard version == Self.version else { throw WireFault(.payload("a place of version \(version)"), at: 0) }
        let replica = try ReplicaState(&reader)
        let texts = try reader.elements { reader throws(WireFault) in (try reader.uint64(), try reader.string()) }
        try reader.finish()
        self.init(replica: replica, contracts: ContractsOfRuns(Dictionary(texts) { $1 }))
    }
}
