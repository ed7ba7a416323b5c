import Glibc
import RelayCore
import RingSupport

/// Reads a ring to its end, checks every record, and says what it found; if asked to, how late each was as well.
struct Following {
    let number: Int
    let hasBoard: Bool
    let keepsTimes: Bool
    /// Looks now and then, and is woken now and then only: many who are woken for every event leave no processor for writers.
    let isLazy: Bool

    func run() throws {
        let area = try RingArea(receiving: RingPeer.ring)
        let waiter = try RingWaiter(receiving: RingPeer.page)
        let board = hasBoard ? try ProgressBoard(receiving: RingPeer.board) : nil
        var reader = RingReader(area, after: 0)
        var tally = Tally()
        var late: [Int64] = []
        var waits = 0
        say("ready")
        while true {
            let step = try reader.next()
            switch step {
            case .record(_, let stamp):
                if keepsTimes {
                    late.append(Int64(bitPattern: Timestamp.now.microseconds &- stamp.publishedAt.microseconds))
                }
                tally.take(stamp, reader.payload)
            case .tooLarge(_, let stamp): tally.unexplained(stamp.sequence)
            case .lapped(let range): tally.lap(range)
            case .absent(let range): tally.unexplained(range.lowerBound)
            case .ended:
                board?[number] = .max
                if keepsTimes { say("late", late.map { "\($0)" }.joined(separator: " ")) }
                say(tally.text)
                return
            case .empty:
                board?[number] = tally.sequence
                waits += 1
                if isLazy && waits % 16 != 0 { usleep(300) } else { _ = waiter.wait { reader.hasNews } }
            }
            if tally.sequence % 64 == 0 { board?[number] = tally.sequence }
        }
    }
}
