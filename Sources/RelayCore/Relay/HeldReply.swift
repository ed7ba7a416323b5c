/// An answer that came, and waits for the events before it.
struct HeldReply: Sendable {
    let call: WaitingCall
    let result: Result<BusReply, RelayError>
    let timer: UInt64

    func complete() { call.completion(result) }
}
