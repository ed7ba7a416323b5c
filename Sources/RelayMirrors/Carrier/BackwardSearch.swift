/// A look back through a channel, from its last message on, for one that shows where somebody stands.
struct BackwardSearch: Hashable {
    /// How many messages are looked at.
    static let limit = 1_024
    /// The message to look at.
    private(set) var next: UInt64
    private var left = limit
    private let first: UInt64

    init(_ bounds: ChannelBounds) { (next, first) = (bounds.last, bounds.first) }

    /// Goes on to the message before. False: there is none to look at.
    mutating func goBack() -> Bool {
        if next <= first || left <= 1 { return false }
        (next, left) = (next - 1, left - 1)
        return true
    }
}
