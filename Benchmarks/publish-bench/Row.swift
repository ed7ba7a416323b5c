/// One line of the table, ready to be measured.
struct Row {
    enum Kind { case ours, notificationCenter, other }
    let name: String
    let kind: Kind
    let subscribers: Int
    private let measurement: () -> Double

    /// Inlined, so that each body is compiled into a loop of its own, as in the code of a user.
    @inline(__always) init(
        _ name: String, _ kind: Kind, _ subscribers: Int, _ count: Int, _ body: @escaping () -> Void
    ) {
        (self.name, self.kind, self.subscribers) = (name, kind, subscribers)
        measurement = {
            let time = ContinuousClock().measure { for _ in 0..<count { body() } }
            return Self.nanoseconds(time) / Double(count)
        }
    }
    func measure() -> Double { measurement() }

    static func nanoseconds(_ time: Duration) -> Double {
        Double(time.components.seconds) * 1e9 + Double(time.components.attoseconds) / 1e9
    }
}
