import RelayCore

/// The contracts of an origin's runs, as their snapshots bring them.
struct ContractsOfRuns: Hashable, Sendable {
    private(set) var byEpoch: [UInt64: String]

    init(_ byEpoch: [UInt64: String] = [:]) { self.byEpoch = byEpoch }

    mutating func learn(_ snapshot: MirrorSnapshot) {
        if let epoch = snapshot.runs.last?.epoch, !snapshot.contract.isEmpty { byEpoch[epoch] = snapshot.contract }
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

    func bytes() -> [UInt8] {
        var writer = WireWriter(capacity: 512)
        for part in [replica.bytes()] + contracts.byEpoch.sorted(by: { $0.key < $1.key }).map(Self.bytes) {
            writer.align(8)
            writer.uint64(UInt64(part.count))
            writer.append(part)
        }
        return writer.takeBytes()
    }
    private static func bytes(_ contract: (key: UInt64, value: String)) -> [UInt8] {
        var writer = WireWriter(capacity: contract.value.utf8.count + 8)
        writer.uint64(contract.key)
        writer.append(Array(contract.value.utf8))
        return writer.takeBytes()
    }
    /// Throws `.unavailable` for bytes that are none: the file is damaged, or of a newer version.
    init(_ bytes: [UInt8]) throws(RelayError) {
        self.init()
        do {
            var parts = try bytes.withUnsafeBytes { try Self.parts($0) }[...]
            guard let state = parts.popFirst() else { throw WireFault(.payload("nothing"), at: 0) }
            replica = try ReplicaState(state)
            for part in parts {
                guard part.count > 8 else { throw WireFault(.payload("a contract of \(part.count) bytes"), at: 0) }
                let epoch = part[..<8].reversed().reduce(0) { $0 << 8 | UInt64($1) }
                contracts = ContractsOfRuns(
                    contracts.byEpoch.merging([epoch: String(decoding: part[8...], as: UTF8.self)]) { $1 })
            }
        } catch {
            throw RelayError(
                .unavailable,
                "what a mirror has kept of its place cannot be read: \(error); remove the mirror's directory, and it "
                    + "is built again from its carrier", cause: error)
        }
    }
    private static func parts(_ bytes: UnsafeRawBufferPointer) throws(WireFault) -> [[UInt8]] {
        var reader = WireReader(bytes)
        var parts: [[UInt8]] = []
        while !reader.isAtEnd {
            try reader.align(8)
            let length = try reader.uint64()
            guard length <= UInt64(reader.remaining) else {
                throw WireFault(.payload("\(length) bytes, of which \(reader.remaining) are left"), at: reader.position)
            }
            parts.append(Array(try reader.raw(Int(length))))
        }
        return parts
    }
}
