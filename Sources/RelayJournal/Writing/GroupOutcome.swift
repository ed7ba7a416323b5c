import RelayCore

/// What became of a group's units, for their callers.
struct GroupOutcome {
    /// Their places in what was asked for.
    let range: Range<Int>
    /// A unit that failed by itself.
    struct Failure {
        let place: Int
        let error: any Error
        /// Whether the group was doomed when it failed: it may be the cause.
        let isOfDoom: Bool
    }
    /// By rising place.
    var failures: [Failure] = []
    /// Why nothing was committed, if so.
    var doom: RelayError?

    /// Resumes the callers.
    func finish(_ works: [JournalWork]) {
        if range.count > 1 && failures.isEmpty && doom == nil {
            // By one thread of the pool, which then runs them itself: resumed from here, the first of them would wake
            // another thread, which would be asleep again when the next is resumed.
            Task.detached { [works = works[range]] in for work in works { work.finish(nil) } }
            return
        }
        var failures = failures[...]
        for place in range {
            let own = failures.first?.place == place ? failures.removeFirst() : nil
            // What a unit was refused on was never committed, nor were the events that reported it.
            works[place].finish(doom != nil && own?.isOfDoom != true ? doom : own?.error ?? doom)
        }
    }
}
