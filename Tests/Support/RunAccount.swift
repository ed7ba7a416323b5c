package import RelayCore

/// What a subscriber to a volatile interface has seen, run by run, and whether it can be true.
///
/// Of each run it has seen or been told all from the first event on, but for the run in which it began. A gap of one reason may
/// reach around one of another; each counts its own.
package struct RunAccount {
    /// What is said of a run when the next one begins.
    package struct Run: Hashable, Sendable {
        package let epoch: UInt64
        /// The last sequence that came, or is in a gap.
        package fileprivate(set) var end: UInt64
        package fileprivate(set) var events = 0
        package fileprivate(set) var gaps = 0
        /// What came or was counted as missing, and what was before the beginning.
        fileprivate var accounted: UInt64
        fileprivate var lastEvent: UInt64

        fileprivate init(epoch: UInt64, after sequence: UInt64) {
            (self.epoch, end, accounted, lastEvent) = (epoch, sequence, sequence, sequence)
        }
    }
    package private(set) var present: Run?
    package private(set) var former: [Run] = []
    package private(set) var faults: [String] = []
    /// Of the service, as it numbers its runs itself.
    private var number: UInt64?
    private var isOver = false

    package init() {}

    package mutating func take(_ event: any StreamEntry, _ stamp: Stamp) {
        var run = run(stamp.epoch, with: stamp.sequence)
        let text = "\(stamp.epoch)#\(stamp.sequence)"
        run.accounted += 1
        if stamp.sequence != run.end &+ 1 { faults.append("\(text) after #\(run.end)") }
        if stamp.sequence != run.accounted {
            faults.append("\(text) is number \(run.accounted) by what came and is missing")
        }
        if let number = Runs1.run(of: event, stamp.sequence) {
            if number != self.number ?? number { faults.append("\(text) is another run's") }
            self.number = number
        } else {
            faults.append("\(text) was never published: \(event)")
        }
        (run.end, run.lastEvent, run.events) = (stamp.sequence, stamp.sequence, run.events + 1)
        present = run
    }
    package mutating func take(_ gap: Gap) {
        var run = run(gap.epoch, with: gap.sequences.lowerBound)
        let text = "gap \(gap.epoch)#\(gap.sequences)"
        if gap.sequences.lowerBound <= run.lastEvent { faults.append("\(text) after #\(run.lastEvent)") }
        if gap.sequences.upperBound == .max {
            isOver = true
        } else {
            run.end = max(run.end, gap.sequences.upperBound)
            run.accounted += UInt64(gap.count ?? gap.sequences.count)
            run.gaps += 1
        }
        present = run
    }
    private mutating func run(_ epoch: UInt64, with sequence: UInt64) -> Run {
        if let present, present.epoch == epoch {
            if isOver { faults.append("\(epoch)#\(sequence) after the end of its run") }
            return present
        }
        if former.contains(where: { $0.epoch == epoch }) { faults.append("run \(epoch) once more") }
        if let present { former.append(present) }
        (number, isOver) = (nil, false)
        // It began somewhere in its first run.
        return Run(epoch: epoch, after: former.isEmpty ? sequence - min(sequence, 1) : 0)
    }
}
