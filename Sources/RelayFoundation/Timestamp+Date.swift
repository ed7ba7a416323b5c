public import Foundation
public import RelayEvents

extension Date {
    /// The time of an event, for Foundation's formatters and calendars.
    ///
    /// A `Date` counts seconds in a `Double`, which is exact to the microsecond until the year 2137.
    ///
    /// - Parameter timestamp: the time.
    public init(_ timestamp: Timestamp) {
        let (seconds, micros) = timestamp.microseconds.quotientAndRemainder(dividingBy: 1_000_000)
        // From Foundation's own reference date, which is nearer, so that less is rounded away.
        let sinceReference = Double(Int64(seconds) - 978_307_200) + Double(micros) / 1_000_000
        self.init(timeIntervalSinceReferenceDate: sinceReference)
    }
}

extension Timestamp {
    /// The time of a `Date`, to the nearest microsecond.
    ///
    /// - Parameter date: the date.
    /// - Returns: the time; nil if the date is before the Unix epoch, does not fit into 64 bits, or is not a number.
    public init?(_ date: Date) {
        let sinceReference = date.timeIntervalSinceReferenceDate
        guard sinceReference.isFinite, abs(sinceReference) < 1e15 else { return nil }
        let seconds = sinceReference.rounded(.down)
        let micros = ((sinceReference - seconds) * 1_000_000).rounded()
        let total = (Int128(seconds) + 978_307_200) * 1_000_000 + Int128(micros)
        guard let microseconds = UInt64(exactly: total) else { return nil }
        self.init(microseconds: microseconds)
    }
}
