import CRelayShims
import Glibc
import RelayCore

/// The receivers' roles. Descriptors: 3 words, 4 ring, 5 wait page.
struct Receiver {
    let words: SharedWords

    init() throws { words = try SharedWords(receiving: 3) }

    func run(_ role: String, _ argument: Int) throws {
        switch role {
        case "ring-spin": try ring(argument) { $0.hasNews }
        case "ring-block":
            let waiter = try RingWaiter(receiving: 5)
            try ring(argument) { reader in waiter.wait(spinning: .none) { reader.hasNews } }
        case "bare-spin": bare(argument) { seen in while words[1] == seen, words[3] == 0 { relay_pause() } }
        case "bare-block":
            bare(argument) { seen in
                // The futex is the low half of the word.
                while words[1] == seen, words[3] == 0 {
                    _ = relay_futex_wait(words.address(1), UInt32(truncatingIfNeeded: seen), 250_000_000)
                }
            }
        case "count": try count()
        case "sleeper": try sleeper(argument)
        default: exit(64)
        }
    }
    private func ring(_ events: Int, _ wait: (borrowing RingReader) -> Bool) throws {
        var reader = RingReader(try RingArea(receiving: 4), after: 0)
        var times = Latencies(events)
        say("ready")
        while times.count < events {
            switch try reader.next() {
            case .record:
                let tick = reader.payload.loadUnaligned(as: Tick.self)
                times.add(MonotonicClock.now &- tick.sentAt)
                guard tick.isWhole else { exit(3) }
            case .empty: while !wait(reader) { relay_pause() }
            default: exit(4)
            }
        }
        say(times.text)
    }
    private func bare(_ events: Int, _ wait: (UInt64) -> Void) {
        var times = Latencies(events)
        var seen: UInt64 = 0
        say("ready")
        // A hand-over that comes too late replaces the one before: there may be fewer than were sent.
        while words[3] == 0 {
            wait(seen)
            if words[1] == seen { continue }
            seen = words[1]
            // The time first: a later one may take its place while the clock is read.
            let sentAt = words[2]
            times.add(MonotonicClock.now &- sentAt)
        }
        say(times.text)
    }
    /// Reads as fast as it can; says how many came, and how many were whole.
    private func count() throws {
        var reader = RingReader(try RingArea(receiving: 4), after: 0)
        var (records, lapped) = (0, 0)
        say("ready")
        while true {
            switch try reader.next() {
            case .record:
                guard reader.payload.loadUnaligned(as: Tick.self).isWhole else { exit(3) }
                records += 1
                if records & 255 == 0 { words[0] = reader.sequence }
            case .lapped(let range): lapped += range.count
            case .empty:
                words[0] = reader.sequence
                while !reader.hasNews { relay_pause() }
            case .ended:
                say("\(records) \(lapped)")
                return
            default: exit(4)
            }
        }
    }
    /// Tells each event that it was woken for.
    private func sleeper(_ place: Int) throws {
        var reader = RingReader(try RingArea(receiving: 4), after: 0)
        let waiter = try RingWaiter(receiving: 5)
        say("ready")
        while true {
            switch try reader.next() {
            case .record: words[place] = reader.sequence
            case .empty: _ = waiter.wait(spinning: .none) { reader.hasNews }
            case .ended: return
            default: break
            }
        }
    }
}
