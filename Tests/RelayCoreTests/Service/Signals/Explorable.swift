/// A small world in which every order of a few steps is tried.
protocol Explorable {
    associatedtype Step: CaseIterable
    /// Checks what a step must not break, too.
    mutating func take(_ step: Step)
    /// Checks what holds in whatever state this is.
    func checkEnd()
}

extension Explorable {
    /// Takes all sequences of so many steps; returns how many states it has seen.
    func explore(depth: Int) -> Int {
        checkEnd()
        if depth == 0 { return 1 }
        return Step.allCases.reduce(into: 1) { seen, step in
            var next = self
            next.take(step)
            seen += next.explore(depth: depth - 1)
        }
    }
}
