/// Every state that a model can come into.
struct Exploration {
    private(set) var states = 0
    private(set) var failures: Set<RingModel.Failure> = []
    /// Ends in which the reader had jumped over something.
    private(set) var lappedEnds = 0
    private(set) var ends = 0

    /// - Parameter stopping: at the first failure, which is enough for a model that is to fail.
    init(_ model: RingModel, stopping: Bool = false) {
        var seen: Set<RingModel> = [model]
        var open = [model]
        while let state = open.popLast() {
            states += 1
            if let failure = state.failure {
                failures.insert(failure)
                if stopping { return }
            }
            if state.isDone {
                ends += 1
                if state.skipped > 0 { lappedEnds += 1 }
            }
            for next in state.next() where seen.insert(next).inserted { open.append(next) }
        }
    }
}
