/// Values that validating types are likely to accept, by round.
enum Samples {
    static let strings = [
        "", "00000000-0000-0000-0000-000000000000", "0", "a", "A", "1970-01-01T00:00:00Z", "/", "a@b.org", "127.0.0.1",
        "EUR",
    ]
    static let integers = [0, 1, 5, 10, 20, 100]
    static let rounds = strings.count
    static func integer<I: FixedWidthInteger>(_ round: Int) -> I { I(clamping: integers[round % integers.count]) }
}
