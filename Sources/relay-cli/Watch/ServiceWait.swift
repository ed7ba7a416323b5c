import Glibc
import RelayCore
import RelayTool

/// Waits for the first service of Relay on a bus that has none, for a watch that names none.
struct ServiceWait {
    /// How long after a look at the bus's names the next one follows.
    private static let interval = Duration.milliseconds(500)

    let tool: Tool
    let bus: BusChoice
    let timeout: Duration
    /// Readable when the end is asked for.
    let stop: Int32
    /// nil: without end.
    let end: ContinuousClock.Instant?

    /// Its name; nil: the end was asked for, or the time is over.
    ///
    /// Throws `.usage` if several come at once, `.unavailable` if the bus goes away.
    func service() throws(CLIFailure) -> String? {
        do throws(RelayError) {
            let peer = try tool.openPeer(bus, timeout)
            let finder = ServiceFinder(peer: peer) { tool.serviceFile($0, on: bus) }
            var known: [String]?
            while true {
                // Only new names are asked what they are.
                let names = try finder.names()
                if names != known {
                    known = names
                    let services = try finder.services()
                    if !services.isEmpty { return try Self.choice(of: services).get() }
                }
                if let end, ContinuousClock.now >= end { return nil }
                let next = ContinuousClock.now + Self.interval
                var waiting = pollfd(fd: stop, events: Int16(POLLIN), revents: 0)
                _ = poll(&waiting, 1, WatchLoop.milliseconds(until: end.map { min($0, next) } ?? next))
                if waiting.revents != 0 { return nil }
            }
        } catch {
            throw (error.cause as? CLIFailure) ?? CLIFailure(FailureMapping.exitCode(error.code), error.message)
        }
    }
    /// The failure as a cause: one body throws one type of error.
    private static func choice(of services: [FoundService]) -> Result<String, RelayError> {
        do throws(CLIFailure) { return .success(try ServiceFinder.choice(of: services)) } catch {
            return .failure(RelayError(.invalidArgument, error.message, cause: error))
        }
    }
}
