/// The places of events that are handled at the same time: a position may pass a place when everything up to it is
/// finished.
struct UnfinishedPlaces<Place: Sendable>: Sendable {
    private struct Entry: Sendable {
        let place: Place?
        var isFinished = false
    }
    /// From the lowest unfinished one on.
    private var entries: [Entry] = []
    /// The number of the first.
    private var first = 0

    /// How many are unfinished, or lie behind one that is.
    var count: Int { entries.count }

    /// Another event is handled.
    ///
    /// - Parameter place: nil where no position is kept.
    /// - Returns: its number.
    mutating func begin(_ place: Place?) -> Int {
        entries.append(Entry(place: place))
        return first + entries.count - 1
    }
    /// An event was handled.
    ///
    /// - Returns: up to where everything is finished now; nil: no further than before.
    mutating func finish(_ number: Int) -> Place? {
        entries[number - first].isFinished = true
        var passed: Place?
        while let lowest = entries.first, lowest.isFinished {
            passed = lowest.place ?? passed
            entries.removeFirst()
            first += 1
        }
        return passed
    }
}
