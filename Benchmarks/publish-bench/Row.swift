/// One line of the table, ready to be measured.
struct Row {
    enum Kind { case ours, notificationCenter, other }
    let name: String
    let kind: Kind
    let subscribers: Int
    private let measurement: () -> Double

    /// A body does what is measured so many times.
    init(_ name: String, _ kind: Kind, _ subscribers: Int, _ count: Int, _ body: @escaping (_ count: Int) -> Void) {
        (self.name, self.kind, self.subscribers) = (name, kind, subscribers)
        measurement = {
            let time = ContinuousClock().measure { body(count) }
            return Self.nanoseconds(time) / Double(count)
        }
    }
    func measure() -> Double { measurement() }

    static func nanoseconds(_ time: Duration) -> Double {
        Double(time.components.seconds) * 1e9 + Double(time.components.attoseconds) / 1e9
    }
}
