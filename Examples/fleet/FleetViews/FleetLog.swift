import Fleet
import RelayCore

/// What units have written down, from the beginning on: those of this host, or of another one, by its mirrors.
public final class FleetLog: Sendable {
    private let relays: [EventRelay]
    private let subscriptions: [Subscription]

    /// - Parameter onLine: is called with each line; those of a unit come in their order.
    public init(
        _ units: [FleetUnit], at host: String? = nil, on bus: Bus = .session,
        onLine: @escaping @Sendable (String) -> Void
    ) throws {
        relays = try units.map { unit in
            try EventRelay(
                following: unit.service, at: host, on: bus, interfaces: UnitLog1.self, activation: .ifRunning)
        }
        subscriptions = try zip(units, relays).map { unit, relay in
            try relay.subscribe(to: UnitLog1.self, from: .beginning) { event in
                onLine(Self.line(event))
            } onGap: { gap in
                onLine("Unit \(unit.index): \(gap)")
            }
        }
        for relay in relays { relay.activate() }
    }
    public func end() { for relay in relays { relay.invalidate() } }

    static func line(_ event: UnitLog1) -> String {
        switch event {
        case .started(let event): "Unit \(event.unit) has started."
        case .overheated(let event): "Unit \(event.unit) is at \(Int(event.celsius)) °C."
        }
    }
}
