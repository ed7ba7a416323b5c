import RelayCore
import RelayDaemon
import RelayTool
import Telemetry
import TelemetryDomain

/// The host's own figures.
struct TelemetryHost {
    private let sampler: TelemetrySampler

    /// Answers commands, and prepares to sample what this host has.
    ///
    /// Throws `ServiceFailure` when there is nothing to sample.
    init(_ options: ServiceOptions, on service: EventService, _ log: Log) throws(ServiceFailure) {
        var sources: [any TelemetrySource] = []
        func add(_ make: () throws(RelayError) -> any TelemetrySource) {
            do throws(RelayError) { sources.append(try make()) } catch { log.warning("left out: \(error.message)") }
        }
        add { () throws(RelayError) in try CPUSource() }
        add { () throws(RelayError) in try MemorySource() }
        add { () throws(RelayError) in try LoadSource() }
        add { () throws(RelayError) in try NetworkSource() }
        if sources.isEmpty {
            throw ServiceFailure(code: .software, message: "nothing to sample: /proc is not there, or closed")
        }
        let host = try? service.document(Host.self)
        let refresh = { @Sendable in
            // The service's run is over, if that fails.
            try? host?.set(.present)
        }
        refresh()
        sampler = TelemetrySampler(
            rate: options.rate, sources: sources, output: service, everySecond: { refresh() }
        ) { log.warning($0) }
        service.handle(ListNetworkInterfaces.self) { _, _ in
            ListNetworkInterfaces.Reply(links: NetworkLinks.all())
        }
    }
    func start() throws(RelayError) { try sampler.start() }
    func setRate(_ rate: Double) { sampler.setRate(rate) }
    func stop() { sampler.stop() }
}
