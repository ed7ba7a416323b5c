/// State that belongs to who holds a loop's turn: no lock, and a trap for the programmer who forgets.
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
