/// A call that was made, and how it ends.
struct WaitingCall: Sendable {
    let call: MethodCall
    let deadline: UInt64
    let ticket: CallTicket
    let completion: @Sendable (Result<BusReply, RelayError>) -> Void

    /// What is left of its time.
    var timeLeft: Duration {
        let now = MonotonicClock.now
        return .nanoseconds(Int64(clamping: deadline > now ? deadline - now : 0))
    }
    func end(_ error: RelayError) { completion(.failure(error)) }
}
