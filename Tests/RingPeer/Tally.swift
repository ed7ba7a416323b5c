import RelayCore
import RingSupport

/// What a reader under test has seen, and whether it can be true.
struct Tally {
    private(set) var sequence: UInt64 = 0
    private var records = 0
    private var lapped: UInt64 = 0
    private var laps = 0
    private var torn = 0
    private var duplicates = 0
    private var gaps = 0
    /// Of each writer: its last number, and whether a lap came since, which explains a jump.
    private var numbers: [UInt64: (number: UInt64, isAfterLap: Bool)] = [:]

    mutating func take(_ stamp: Stamp, _ payload: UnsafeRawBufferPointer) {
        records += 1
        if stamp.sequence <= sequence { duplicates += 1 } else if stamp.sequence != sequence + 1 { gaps += 1 }
        sequence = stamp.sequence
        guard let (writer, number) = StressPayload.check(payload) else {
            torn += 1
            return
        }
        let last = numbers[writer]
        let isExpected =
            switch last {
            case .some(let last): last.isAfterLap ? number > last.number : number == last.number + 1
            case .none: laps > 0 || number == 1
            }
        // A header with another record's payload would show here.
        if !isExpected || payload.count != StressPayload.size(number) { torn += 1 }
        numbers[writer] = (number, false)
    }
    mutating func lap(_ range: ClosedRange<UInt64>) {
        if range.lowerBound != sequence + 1 { gaps += 1 }
        laps += 1
        lapped += UInt64(range.count)
        sequence = range.upperBound
        for writer in numbers.keys { numbers[writer]?.isAfterLap = true }
    }
    mutating func unexplained(_ sequence: UInt64) {
        gaps += 1
        self.sequence = sequence
    }
    var text: String {
        "records \(records) lapped \(lapped) laps \(laps) torn \(torn) duplicates \(duplicates) gaps \(gaps) last \(sequence)"
    }
}
