import Glibc
import RelayCore
import RelayTool

/// Waits for the first service of Relay on a bus that has none, for a watch that names none.
struct ServiceWait {
    /// How long after a look at the bus's names the next one follows, if no signal of the bus asks for it: such a signal
    /// may be lost.
    private static let interval = Duration.seconds(5)
    /// How long after the bus was lost it is connected to again.
    private static let patience = Duration.seconds(1)

    let tool: Tool
    let bus: BusChoice
    let timeout: Duration
    /// Readable when the end is asked for.
    let stop: Int32
    /// nil: without end.
    let end: ContinuousClock.Instant?

    /// Its name; nil: the end was asked for, or the time is over. Throws `.usage` if several come at once.
    func service() throws(CLIFailure) -> String? {
        let wakeup = try Wakeup()
        var peer: (any BusPeer)?
        var known: [String]?
        while true {
            wakeup.clear()
            var (pause, found) = (Self.interval, [FoundService]())
            do throws(RelayError) {
                // Not by `??`, which forgets the type of what its right side throws.
                let connected: any BusPeer
                if let peer { connected = peer } else { connected = try connect(wakeup) }
                peer = connected
                let finder = ServiceFinder(peer: connected) { tool.serviceFile($0, on: bus) }
                // Only new names are asked what they are.
                let names = try finder.names()
                if names != known {
                    known = names
                    let services = try finder.services()
                    found = services
                }
            } catch {
                (peer, known, pause) = (nil, nil, Self.patience)
            }
            if !found.isEmpty { return try ServiceFinder.choice(of: found) }
            if let end, ContinuousClock.now >= end { return nil }
            let next = ContinuousClock.now + pause
            var waiting = [
                pollfd(fd: stop, events: Int16(POLLIN), revents: 0),
                pollfd(fd: wakeup.descriptor, events: Int16(POLLIN), revents: 0),
            ]
            _ = poll(&waiting, 2, WatchLoop.milliseconds(until: end.map { min($0, next) } ?? next))
            if waiting[0].revents != 0 { return nil }
        }
    }
    private func connect(_ wakeup: Wakeup) throws(RelayError) -> any BusPeer {
        let peer = try tool.openPeer(bus, timeout)
        peer.onSignal { wakeup.wake() }
        let standard = "org.freedesktop.DBus"
        let rule = MatchRule(sender: standard, path: "/org/freedesktop/DBus", interface: standard)
        if let error = peer.listen(rule, within: timeout) { throw error }
        return peer
    }
}
