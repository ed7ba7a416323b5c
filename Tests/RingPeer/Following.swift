import Glibc
import RelayCore
import RingSupport

/// Reads a ring to its end, checks every record, and says what it found.
struct Following {
    let number: Int
    let hasBoard: Bool

    func run() throws {
        let area = try RingArea(receiving: RingPeer.ring)
        let waiter = try RingWaiter(receiving: RingPeer.page)
        let board = hasBoard ? try ProgressBoard(receiving: RingPeer.board) : nil
        var reader = RingReader(area, after: 0)
        var tally = Tally()
        say("ready")
        while true {
            let step = try reader.next()
            switch step {
            case .record(let record): tally.take(record, reader.payload)
            case .tooLarge(let record): tally.unexplained(record.sequence)
            case .lapped(let range): tally.lap(range)
            case .absent(let range): tally.unexplained(range.lowerBound)
            case .ended:
                board?[number] = .max
                say(tally.text)
                return
            case .empty:
                board?[number] = tally.sequence
                _ = waiter.wait { reader.hasNews }
            }
            if tally.sequence % 64 == 0 { board?[number] = tally.sequence }
        }
    }
}
