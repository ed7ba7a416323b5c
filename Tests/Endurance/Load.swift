import RelayCore
import Relocation
import Synchronization

/// Several drivers at once, each with a relay of its own: commands of one relay run one after the other.
final class Load: Sendable {
    private final class Switch: Sendable {
        let goesOn = Atomic<Bool>(true)
        let commands = Atomic<Int>(0)
    }
    private let goesOn = Switch()
    private let relays: [EventRelay]
    private let tasks: [Task<Driver, any Error>]

    init(_ site: Site, drivers: Int, seed: UInt64) throws {
        let inventory = try Inventory.load()
        let relays = try (0..<drivers).map { _ in try site.relay(Relocation1.self) }
        self.relays = relays
        tasks = relays.enumerated().map { [goesOn] number, relay in
            relay.activate()
            return Task {
                var driver = Driver("driver \(number + 1)", relay, inventory, seed: seed &+ UInt64(number))
                try await driver.run {
                    goesOn.commands.add(1, ordering: .relaxed)
                    return goesOn.goesOn.load(ordering: .relaxed)
                }
                return driver
            }
        }
    }
    deinit { for task in tasks { task.cancel() } }

    /// How many commands were begun.
    var commands: Int { goesOn.commands.load(ordering: .relaxed) }
    /// Returns when each driver knows what came of its last command; needs a service that runs.
    func finish() async throws -> [Driver] {
        goesOn.goesOn.store(false, ordering: .relaxed)
        var drivers: [Driver] = []
        for task in tasks { drivers.append(try await task.value) }
        for relay in relays { relay.invalidate() }
        return drivers
    }
}
