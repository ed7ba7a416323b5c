// Generic, so in the target that uses it: of another target's `package` code the compiler specialises nothing.

/// State that only the holder of a loop's turn may touch: no lock, and a trap in debug builds for code that forgets.
package final class LoopBound<Value>: @unchecked Sendable {  // Only touched in a turn, which is checked.
    private var value: Value
    private let loop: BusLoop

    package init(_ value: Value, on loop: BusLoop) { (self.value, self.loop) = (value, loop) }

    package var onLoop: Value {
        get {
            assert(loop.isCurrent, "off the loop")
            return value
        }
        _modify {
            assert(loop.isCurrent, "off the loop")
            yield &value
        }
    }
}

extension BusLoop {
    /// Runs something in a turn of its own, on the calling thread, between those of the loop's thread; before and after
    /// the loop's end. Waits for its turn; each is served in the order of coming. Not from within a turn.
    @inline(__always) package func withTurn<Result>(_ body: () throws -> Result) rethrows -> Result {
        beginTurn()
        defer { endTurn() }
        return try body()
    }
}
