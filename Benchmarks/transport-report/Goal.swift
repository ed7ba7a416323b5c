/// A figure, held against what it has to be; or one that is told beside it, and has to be nothing.
public struct Goal: Sendable {
    public let text: String
    /// Nil: it was not measured.
    public let value: Double?
    public let limit: Double?
    /// The figure must not be below the limit; else not above.
    public let isFloor: Bool
    /// What there is to say besides.
    public let note: String

    public init(_ text: String, _ value: Double?, atMost limit: Double, note: String = "") {
        (self.text, self.value, self.limit, isFloor, self.note) = (text, value, limit, false, note)
    }
    public init(_ text: String, _ value: Double?, atLeast limit: Double, note: String = "") {
        (self.text, self.value, self.limit, isFloor, self.note) = (text, value, limit, true, note)
    }
    public init(_ text: String, beside value: Double?, note: String = "") {
        (self.text, self.value, limit, isFloor, self.note) = (text, value, nil, false, note)
    }
    public var isMet: Bool {
        guard let limit else { return true }
        guard let value, value.isFinite else { return false }
        return isFloor ? value >= limit : value <= limit
    }
    public var verdict: String { value == nil ? "not measured" : limit == nil ? "beside" : isMet ? "met" : "MISSED" }
    public var line: String {
        let figure = value.map { Number.short($0) } ?? "–"
        let bound = limit.map { ", \(isFloor ? "at least" : "at most") \(Number.short($0))" } ?? ""
        return "\(text): \(figure)\(bound)\(note.isEmpty ? "" : " (\(note))")"
    }
}
