import Glibc
import RelayCore
import RelayInspection

/// The service, as a process of its own. Each line of its input has a rate and a number: so many events are published, at
/// that many a second. Each line of its output has what that took.
enum ServeRole {
    static func run(address: String) async throws {
        let service = try EventService(name: Followed1.service, on: .address(address), exporting: Followed1.self)
        try await service.start()
        say("ready")
        try await onThread {
            while let line = readLine() {
                let words = line.split(separator: " ")
                switch words.first {
                case "publish": publish(Int(words[1])!, perSecond: Double(words[2])!, service)
                default: report(service)
                }
            }
        }
    }
    /// The time in `publish` is what the events cost their publisher: what it waits for the next is not counted.
    private static func publish(_ count: Int, perSecond rate: Double, _ service: EventService) {
        let (start, waker) = (Clock.monotonic.now, Clock.ofThreads(named: "relay-waker"))
        var inside: UInt64 = 0
        for number in 0..<count {
            let due = start + UInt64(Double(number) * 1e9 / rate)
            var now = Clock.monotonic.now
            // A sleep would be late by more than the interval of the higher rates.
            while now < due {
                if due - now > 200_000 { usleep(UInt32((due - now) / 2_000)) }
                now = Clock.monotonic.now
            }
            do { try service.publish(Moved(number: UInt64(number))) } catch { say("failed \(error)") }
            inside += Clock.monotonic.now - now
        }
        say("published \(inside) \(Clock.ofThreads(named: "relay-waker") - waker) \(Clock.monotonic.now - start)")
    }
    private static func report(_ service: EventService) {
        let ring = service.metrics.streams[0].ring
        say("rings \(ring?.opened ?? 0) \(ring?.refused ?? 0) \(Clock.process.now)")
    }
}
