/// The calls that wait until it is known to whom to send them, in their order.
struct WaitingCalls {
    /// How many there are at the most.
    static let limit = 1_024
    private var calls: [WaitingCall] = []

    /// False when there is no room.
    mutating func add(_ call: WaitingCall) -> Bool {
        if calls.count >= Self.limit { return false }
        calls.append(call)
        return true
    }
    mutating func takeAll() -> [WaitingCall] {
        defer { calls = [] }
        return calls
    }
    mutating func take(_ ticket: CallTicket) -> WaitingCall? {
        calls.firstIndex { $0.ticket === ticket }.map { calls.remove(at: $0) }
    }
}
