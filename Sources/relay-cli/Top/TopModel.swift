/// What `top` shows: a value, which a tick a second brings up to date.
struct TopModel: Equatable {
    /// Ticks that a sparkline can show.
    static let history = 120
    /// Ticks that a latency is of.
    static let window = 5

    /// An event's, or an interface's as a whole.
    struct Figures: Equatable {
        /// Events a second in each tick, the last one last.
        fileprivate(set) var rates: [Double] = []
        private var latencies: [LatencyHistogram] = []
        /// Of all ticks of the window: a screen asks for it many times.
        private(set) var latency = LatencyHistogram()

        var rate: Double { rates.last ?? 0 }
        fileprivate mutating func tick(_ count: UInt64, _ latency: LatencyHistogram, seconds: Double) {
            rates.append(Double(count) / seconds)
            latencies.append(latency)
            if rates.count > TopModel.history { rates.removeFirst() }
            if latencies.count > TopModel.window { latencies.removeFirst() }
            self.latency = latencies.reduce(into: LatencyHistogram()) { $0.merge($1) }
        }
    }
    struct Interface: Equatable {
        fileprivate(set) var whole = Figures()
        fileprivate(set) var events: [String: Figures] = [:]
        fileprivate(set) var status: TopStatus?
        /// Events that came too late to be seen, and those that nobody counted.
        fileprivate(set) var lost: UInt64 = 0
        fileprivate(set) var lostUnknown = false
        fileprivate var sequence: UInt64?
        /// Whether every event is followed: else those of other names would look like a delay.
        fileprivate var isWhole = true
        /// How many events the service was ahead of this program when it reported.
        fileprivate(set) var lag: UInt64?
    }
    let service: String
    /// What is shown in place of figures: no service exports them.
    var notice: String?
    private(set) var interfaces: [String: Interface] = [:]
    /// The programs behind the unique names of subscribers, as far as the bus and the system tell.
    private(set) var programs: [String: String] = [:]
    private(set) var ticks = 0

    init(service: String) { self.service = service }

    /// The service has reported what it offers, and what was asked for of it.
    mutating func follow(_ selection: EventSelection) {
        interfaces = interfaces.filter { selection.names[$0.key] != nil }
        for (name, events) in selection.names {
            interfaces[name, default: Interface()].sequence = nil
            interfaces[name, default: Interface()].isWhole = events == nil
        }
    }
    /// What came since the last tick.
    mutating func tick(_ tallies: [String: TopTally], seconds: Double) {
        let seconds = max(seconds, 0.001)
        ticks += 1
        for (name, var interface) in interfaces {
            let tally = tallies[name] ?? TopTally()
            var (count, latency) = (UInt64(0), LatencyHistogram())
            for (event, new) in tally.events {
                interface.events[event, default: Figures()].tick(new.count, new.latency, seconds: seconds)
                count += new.count
                latency.merge(new.latency)
            }
            for event in interface.events.keys where tally.events[event] == nil {
                interface.events[event]?.tick(0, LatencyHistogram(), seconds: seconds)
            }
            interface.whole.tick(count, latency, seconds: seconds)
            interface.sequence = tally.sequence ?? interface.sequence
            let (lost, isTooMuch) = interface.lost.addingReportingOverflow(tally.lost)
            interface.lost = isTooMuch ? .max : lost
            interface.lostUnknown = interface.lostUnknown || tally.lostUnknown
            interfaces[name] = interface
        }
    }
    /// Those who are attached to any interface.
    var peers: Set<String> {
        Set(interfaces.values.flatMap { $0.status?.subscribers?.listed.map(\.peer) ?? [] })
    }
    /// What was found out about peers; nothing is kept of those who left.
    mutating func take(programs found: [String: String]) {
        let peers = peers
        programs = programs.merging(found) { $1 }.filter { peers.contains($0.key) }
    }
    /// What the service has reported of an interface, just now; nil: it did not.
    mutating func take(_ status: TopStatus?, of name: String) {
        guard var interface = interfaces[name] else { return }
        interface.status = status
        let (head, seen) = (status?.head, interface.isWhole ? interface.sequence : nil)
        interface.lag = head.flatMap { head in seen.map { head > $0 ? head - $0 : 0 } }
        interfaces[name] = interface
    }
}
