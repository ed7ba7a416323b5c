import Glibc
import RelayCore
import RelayTool

/// Waits for the first service of Relay on a bus that has none, for a watch that names none.
struct ServiceWait {
    /// When it looks again, if nothing wakes it.
    struct Pauses {
        /// After a look at the bus's names, if no signal of the bus asks for the next one: such a signal may be lost.
        var look = Duration.seconds(5)
        /// After the bus was lost, and after a look at which a program did not answer in time.
        var retry = Duration.seconds(1)
    }

    let tool: Tool
    let bus: BusChoice
    let timeout: Duration
    /// Readable when the end is asked for.
    let stop: Int32
    /// nil: without end.
    let end: ContinuousClock.Instant?
    var pauses = Pauses()

    /// Its name; nil: the end was asked for, or the time is over. Throws `.usage` if several come at once.
    func service() throws(CLIFailure) -> String? {
        let wakeup = try Wakeup()
        // It remembers which names have answered: only others are asked what they are.
        var finder: ServiceFinder?
        while true {
            wakeup.clear()
            var (pause, found) = (pauses.look, [FoundService]())
            do throws(RelayError) {
                // Not by `??`, which forgets the type of what its right side throws.
                var connected: ServiceFinder
                if let finder { connected = finder } else { connected = try connect(wakeup) }
                found = try connected.newServices()
                if connected.hasLate { pause = pauses.retry }
                finder = connected
            } catch {
                (finder, pause) = (nil, pauses.retry)
            }
            if !found.isEmpty { return try ServiceFinder.choice(of: found) }
            if let end, ContinuousClock.now >= end { return nil }
            let next = ContinuousClock.now + pause
            var polls = [pollfd.reading(stop), .reading(wakeup.descriptor)]
            Poll.wait(&polls, until: end.map { min($0, next) } ?? next)
            if polls[0].revents != 0 { return nil }
        }
    }
    private func connect(_ wakeup: Wakeup) throws(RelayError) -> ServiceFinder {
        let peer = try tool.openPeer(bus, timeout)
        peer.onSignal { wakeup.wake() }
        let standard = "org.freedesktop.DBus"
        let rule = MatchRule(sender: standard, path: "/org/freedesktop/DBus", interface: standard)
        if let error = peer.listen(rule, within: timeout) { throw error }
        return ServiceFinder(peer: peer) { tool.serviceFile($0, on: bus) }
    }
}
