import Fleet
import RelayCore
import Synchronization

/// Follows each unit by a relay of its own, and keeps the model: the dashboard without its screen.
public final class FleetWatcher: Sendable {
    /// Of one unit. A dashboard that stands still for a minute misses nothing; past that, a gap says how many.
    private static let buffer = EventBuffer.bufferingNewest(65_536)

    private let state: Mutex<FleetModel>
    private let relays: [EventRelay]
    private let tasks = Mutex<[Task<Void, Never>]>([])
    private let onNews: @Sendable (FleetModel.News) -> Void

    /// - Parameter onNews: is called with each gap, and when a unit is back; the news of a unit come in their order.
    public init(
        _ units: [FleetUnit], on bus: Bus = .session,
        onNews: @escaping @Sendable (FleetModel.News) -> Void = { _ in }
    ) throws {
        state = Mutex(FleetModel(units.map(\.index)))
        self.onNews = onNews
        relays = try units.map { unit in
            unit.hasRing
                ? try EventRelay(
                    following: unit.service, on: bus, interfaces: RingTelemetry1.self, activation: .ifRunning)
                : try EventRelay(
                    following: unit.service, on: bus, interfaces: SignalTelemetry1.self, activation: .ifRunning)
        }
        for (index, unit) in units.enumerated() {
            if unit.hasRing { watch(index, RingSampled.self) } else { watch(index, SignalSampled.self) }
            relays[index].activate()
        }
    }
    deinit { end() }

    public var model: FleetModel { state.withLock { $0 } }

    /// Takes the time, and looks by which transport samples come.
    public func tick(now: Timestamp = .now) {
        for (index, relay) in relays.enumerated() {
            let stream = relay.metrics.streams.first { $0.events > 0 }
            state.withLock { $0.take(index, transport: stream.map { $0.usesRing ? "ring" : "signal" }) }
        }
        state.withLock { $0.tick(now: now) }
    }
    public func end() {
        for task in tasks.withLock({ $0 }) { task.cancel() }
        for relay in relays { relay.invalidate() }
    }

    private func watch<S: Sample>(_ index: Int, _ type: S.Type) {
        // From this moment on, before the relay is activated: the first sample counts.
        let (samples, states) = (relays[index].publisher.events(of: type, buffer: Self.buffer), relays[index].states)
        let watching = [
            Task { [weak self] in
                for await delivery in samples {
                    guard let self else { return }
                    let news: FleetModel.News? =
                        switch delivery {
                        case .event(let sample, let stamp):
                            state.withLock {
                                $0.add(index, stamp, number: sample.number, celsius: sample.celsius, now: .now)
                            }
                        case .gap(let gap): state.withLock { $0.add(index, gap, now: .now) }
                        }
                    if let news { onNews(news) }
                }
            },
            Task { [weak self] in
                for await new in states { self?.state.withLock { $0.take(index, new) } }
            },
        ]
        tasks.withLock { $0 += watching }
    }
}
