package import RelayCore
package import Telemetry

/// One kind of figures.
package protocol TelemetrySource {
    /// For messages.
    var name: String { get }
    /// Reads them now, and publishes an event for each part. Returns how many.
    ///
    /// Throws what `output` throws, and `RelayError` when there is nothing to be read.
    mutating func sample(to output: any TelemetryOutput) throws -> Int
}

/// Where samples go.
package protocol TelemetryOutput: Sendable {
    func publish<E: TelemetryEvent>(_ event: E) throws
}

extension EventService: TelemetryOutput {}
