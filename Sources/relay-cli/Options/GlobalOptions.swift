import RelayCore
import RelayTool

/// Which bus was asked for.
enum BusChoice: Hashable, Sendable {
    case session, system
    case address(String)
}

/// The options that every verb has, before or behind it.
struct GlobalOptions: Equatable, Sendable {
    /// nil: the session bus, or else the private bus of `relay-service --own-bus`.
    var bus: BusChoice?
    var service = Self.service.absent
    var json = false
    var allowsColor = true
    /// How long a call may wait for its reply.
    var timeout = Self.timeout.absent
}

extension GlobalOptions {
    static let session = Option(switch: "session", "the session bus")
    static let system = Option(switch: "system", "the system bus")
    static let address = Option<String?>("bus", .busAddress, "the bus at this D-Bus address")
    static let service = Option<String>(
        "service", .busName, "the service's bus name", standard: "org.eventrelay.Service1")
    static let json = Option(switch: "json", "JSON, one object a line")
    static let noColor = Option(
        switch: "no-color", "no colours on a terminal (so does NO_COLOR in the environment)")
    static let timeout = Option<Duration>("timeout", .seconds, "how long to wait for a reply", standard: "25")

    static let declared: [any DeclaredOption] = [session, system, address, service, json, noColor, timeout]
    static let buses = ExclusiveOptions(session, system, address, fault: "two buses were asked for")

    init(_ line: ParsedLine) throws(UsageError) {
        let addresses = line.all(Self.address)
        if Set(addresses).count > 1 { throw Self.buses.refusal }
        bus = line[Self.session] ? .session : line[Self.system] ? .system : line[Self.address].map { .address($0) }
        (service, json, timeout) = (line[Self.service], line[Self.json], line[Self.timeout])
        allowsColor = !line[Self.noColor]
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
