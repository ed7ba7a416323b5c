import RelayCore
import RelayJournal
import RelayWire

/// The mirror's place on the bus: one service, and so one connection, for each run of its origin.
actor MirrorHouse {
    private let configuration: MirrorConfiguration
    private let replica: ReplicaJournal
    private let onReady: @Sendable () -> Void
    private var service: EventService?
    private var running: Task<Void, any Error>?
    /// Why the last service ended by itself; nil: it did not.
    private(set) var failure: (any Error)?

    init(_ configuration: MirrorConfiguration, _ replica: ReplicaJournal, _ onReady: @escaping @Sendable () -> Void) {
        (self.configuration, self.replica, self.onReady) = (configuration, replica, onReady)
    }

    /// Opens a connection, exports the replica as these runs, and owns the name.
    ///
    /// - Parameter onEnd: is called if the service ends by itself.
    func open(
        _ runs: [(interface: String, epoch: UInt64, contract: String)], onEnd: @escaping @Sendable () -> Void
    ) async throws {
        let name = configuration.name
        let service = try EventService(
            name.description, configuration.bus,
            untyped: runs.map { run in
                UntypedInterface(
                    try ContractText(parsing: run.contract), requirement: configuration.requirement)
            },
            journal: replica.log,
            mirroring: Dictionary(
                runs.map { ($0.interface, MirroredRun(epoch: $0.epoch, isOpen: true)) }, uniquingKeysWith: { $1 }),
            readOnly: "\(name) mirrors \(name.service) at \(name.host), which alone runs commands: send them there",
            configuration.onNotice)
        do { try await service.start() } catch {
            await replica.detach()
            throw error
        }
        (self.service, failure) = (service, nil)
        onReady()
        running = Task { [weak self] in
            do { try await service.run() } catch {
                await self?.failed(error)
                onEnd()
            }
        }
    }
    private func failed(_ error: any Error) { failure = error }

    /// Sends what the run has and `End`, and gives the name and the connection up. Returns when that is done.
    func end() async {
        guard let service else { return }
        // It has said why, if it has ended by itself.
        try? await service.stop()
        _ = await running?.result
        await replica.detach()
        (self.service, running, failure) = (nil, nil, nil)
    }
}
