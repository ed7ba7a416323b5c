import RelayCore
import RelayTool
import RelayWire

/// Which bus was asked for.
enum BusChoice: Hashable, Sendable {
    case session, system
    case address(String)
}

/// The options that every verb has, before or behind it.
struct GlobalOptions: Equatable, Sendable {
    /// nil: the session bus, or else the private bus of `relay-service --own-bus`.
    var bus: BusChoice?
    /// The bus name of the service that is meant; what a command line does not say is found before a verb runs.
    var service = ServiceFinder.standard
    /// Whether the command line names it.
    var namesService = false
    /// Whose service is meant, by its mirror here; nil: this host's.
    var host: HostChoice?
    /// No service was named, and none found: `service` is the reference service's name.
    var isAssumed = false
    var json = false
    var allowsColor = true
    /// How long a call may wait for its reply.
    var timeout = Self.timeout.absent
}

extension GlobalOptions {
    static let session = Option(switch: "session", "the session bus")
    static let system = Option(switch: "system", "the system bus")
    static let address = Option<String?>("bus", .busAddress, "the bus at this D-Bus address")
    static let service = Option<String?>(
        "service", letter: "s", .busName,
        "the service's bus name; without it RELAY_SERVICE in the environment, else the only service of Relay on the bus "
            + "that is not secondary"
    )
    static let host = Option<HostChoice?>(
        "host", .host,
        "the service of another host, by its mirror on this bus; '*': all mirrors, with the host before each line")
    static let json = Option(switch: "json", "JSON, one object a line; errors on stderr, too")
    static let noColor = Option(
        switch: "no-color", "no colours on a terminal (so does NO_COLOR in the environment)")
    static let timeout = Option<Duration>("timeout", .seconds, "how long to wait for a reply", standard: "25")

    static let declared: [any DeclaredOption] = [session, system, address, service, host, json, noColor, timeout]
    static let buses = ExclusiveOptions(session, system, address, fault: "two buses were asked for")

    init(_ line: ParsedLine) throws(UsageError) {
        let addresses = line.all(Self.address)
        if Set(addresses).count > 1 { throw Self.buses.refusal }
        bus = line[Self.session] ? .session : line[Self.system] ? .system : line[Self.address].map { .address($0) }
        (json, timeout) = (line[Self.json], line[Self.timeout])
        host = line[Self.host]
        if let given = line[Self.service] { (service, namesService) = (given, true) }
        allowsColor = !line[Self.noColor]
    }
}

extension GlobalOptions {
    /// Those of a command line that names its service.
    init(
        bus: BusChoice? = nil, service: String, json: Bool = false, allowsColor: Bool = true,
        timeout: Duration = Self.timeout.absent
    ) {
        (self.bus, self.service, namesService) = (bus, service, true)
        (self.json, self.allowsColor, self.timeout) = (json, allowsColor, timeout)
    }
}

extension ValueKind where Value == String {
    static let busName = ValueKind("NAME") { text throws(Unfit) in
        guard BusNames.isBusName(text) else { throw Unfit("is no bus name; one looks like org.eventrelay.Service1") }
        return text
    }
}

extension ValueKind where Value == Duration {
    /// From a millisecond to 24 days, which libdbus can wait: its number of milliseconds has 32 bits.
    static let seconds = ValueKind<Double>.decimal("SECONDS", of: "seconds", 0.001...2_147_483).map {
        Duration.milliseconds(Int64(($0 * 1000).rounded()))
    }
}
