public import RelayEvents

/// An interface that a service exports by the text of its contract, without Swift types.
///
/// ```swift
/// let contract = try await relay.contracts()[0]
/// let service = try EventService(name: "org.example.Replay", exporting: UntypedInterface(contract))
/// ```
public struct UntypedInterface: Sendable {
    /// The contract, as another service or a file has it.
    public let contract: ContractText
    /// Which peers may call and subscribe; nil: those that the contract admits.
    public var requirement: PeerRequirement?
    /// What a journal keeps of a durable one.
    public var retention: Retention
    /// How many events are sent as signals.
    public var signalBudget: SignalBudget
    /// The size in bytes of the ring: a power of two from 64 KiB to 1 GiB, or 0 for no ring.
    public var ringCapacity: Int

    /// An interface to export.
    ///
    /// - Parameter contract: the contract.
    /// - Parameter requirement: which peers may call and subscribe; nil: those that the contract admits.
    /// - Parameter retention: what a journal keeps of a durable interface.
    /// - Parameter signalBudget: how many events are sent as signals.
    /// - Parameter ringCapacity: the size in bytes of the ring.
    public init(
        _ contract: ContractText, requirement: PeerRequirement? = nil, retention: Retention = .standard,
        signalBudget: SignalBudget = .standard, ringCapacity: Int = 4 << 20
    ) {
        (self.contract, self.requirement, self.retention) = (contract, requirement, retention)
        (self.signalBudget, self.ringCapacity) = (signalBudget, ringCapacity)
    }
}
