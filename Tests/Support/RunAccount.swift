package import RelayCore

/// What a subscriber to a volatile interface has seen, run by run, and whether it can be true.
///
/// Of each run it has seen or been told all from the first event on, but for the run in which it began.
package struct RunAccount {
    /// What is said of a run when the next one begins.
    package struct Run: Hashable, Sendable {
        package let epoch: UInt64
        /// The last sequence that came, or is in a gap.
        package fileprivate(set) var end: UInt64
        package fileprivate(set) var events = 0
        package fileprivate(set) var gaps = 0
    }
    package private(set) var present: Run?
    package private(set) var former: [Run] = []
    package private(set) var faults: [String] = []
    /// Of the service, as it numbers its runs itself.
    private var number: UInt64?
    private var isOver = false

    package init() {}

    package mutating func take(_ event: any DomainEvent, _ stamp: Stamp) {
        begin(stamp.epoch, with: stamp.sequence)
        let text = "\(stamp.epoch)#\(stamp.sequence)"
        if stamp.sequence != (present?.end ?? 0) &+ 1 { faults.append("\(text) after #\(present?.end ?? 0)") }
        if isOver { faults.append("\(text) after the end of its run") }
        if let run = Runs1.run(of: event, stamp.sequence) {
            if run != number ?? run { faults.append("\(text) is another run's") }
            number = run
        } else {
            faults.append("\(text) was never published: \(event)")
        }
        present?.end = stamp.sequence
        present?.events += 1
    }
    package mutating func take(_ gap: Gap) {
        begin(gap.epoch, with: gap.sequences.lowerBound)
        let text = "gap \(gap.epoch)#\(gap.sequences)"
        if gap.sequences.lowerBound != (present?.end ?? 0) &+ 1 { faults.append("\(text) after #\(present?.end ?? 0)") }
        if isOver { faults.append("\(text) after the end of its run") }
        if gap.sequences.upperBound == .max {
            isOver = true
        } else {
            if let count = gap.count, count != gap.sequences.count { faults.append("\(text) counts \(count)") }
            present?.end = gap.sequences.upperBound
            present?.gaps += 1
        }
    }
    private mutating func begin(_ epoch: UInt64, with sequence: UInt64) {
        if present?.epoch == epoch { return }
        if former.contains(where: { $0.epoch == epoch }) { faults.append("run \(epoch) once more") }
        if let present { former.append(present) }
        // It began somewhere in its first run.
        present = Run(epoch: epoch, end: former.isEmpty ? sequence - min(sequence, 1) : 0)
        (number, isOver) = (nil, false)
    }
}
