package import RelayCore
package import Telemetry

/// Where samples go.
package protocol TelemetryOutput: Sendable {
    func publish<E: TelemetryEvent>(_ event: E) throws
}

extension EventService: TelemetryOutput {}
