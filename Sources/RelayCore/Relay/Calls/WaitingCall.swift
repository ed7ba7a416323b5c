/// A call that was made, and how it ends.
struct WaitingCall: Sendable {
    let call: MethodCall
    let deadline: UInt64
    let ticket: CallTicket
    let completion: @Sendable (Result<BusReply, RelayError>) -> Void

    /// What is left of its time.
    var timeLeft: Duration { MonotonicClock.left(until: deadline) }
    func end(_ error: RelayError) { completion(.failure(error)) }
}

/// The calls that wait until the owner is known, or until it has room for them; in their order.
struct WaitingCalls {
    /// How many there are at the most.
    static let limit = 1_024
    private var calls: [WaitingCall] = []
    var isEmpty: Bool { calls.isEmpty }
    var first: WaitingCall? { calls.first }

    /// False when there is no room.
    mutating func add(_ call: WaitingCall) -> Bool {
        if calls.count >= Self.limit { return false }
        calls.append(call)
        return true
    }
    mutating func removeFirst() { calls.removeFirst() }
    mutating func takeAll() -> [WaitingCall] {
        defer { calls = [] }
        return calls
    }
    mutating func take(_ ticket: CallTicket) -> WaitingCall? {
        calls.firstIndex { $0.ticket === ticket }.map { calls.remove(at: $0) }
    }
}

/// A call on its way to the bus: what cancelling it needs.
final class CallTicket: @unchecked Sendable {  // Touched on the loop's thread only.
    var serial: UInt32?
    /// As it was sent.
    var call: MethodCall?
    /// Where it was sent: another one has other serials.
    weak var connection: BusConnection?
    var isCancelled = false
    /// There was an answer, or there will be none.
    var isAnswered = false
    /// The service is notified when the caller gives up.
    let isCancellable: Bool
    /// Is given the signature and the body of each signal of progress.
    let onProgress: (@Sendable (String, [UInt8]) -> Void)?

    init(isCancellable: Bool = false, onProgress: (@Sendable (String, [UInt8]) -> Void)? = nil) {
        (self.isCancellable, self.onProgress) = (isCancellable, onProgress)
    }
    /// Reports to the service that the caller has given up. Past the calls that wait there.
    func sendCancel() {
        guard let serial, let connection, let call else { return }
        var body = WireWriter()
        body.uint32(serial)
        do throws(RelayError) {
            let header = MessageHeader.methodCall(
                path: call.path, interface: Stream1.name, member: "Cancel", destination: call.destination,
                signature: try Signature(Stream1.cancelSignature), flags: [.noReplyExpected, .noAutoStart])
            try connection.send(header, body: body.bytes)
        } catch {
            // The connection is gone, which the service sees.
        }
    }
}

/// An answer that came, and waits for the events before it.
struct HeldReply: Sendable {
    let call: WaitingCall
    let result: Result<BusReply, RelayError>
    let timer: UInt64

    func complete() { call.completion(result) }
}
