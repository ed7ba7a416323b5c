import RelayWire

/// A call that was made, and how it ends.
final class WaitingCall: Sendable {
    /// As this program makes it.
    let call: MethodCall
    /// Of a command; nil for what every service has in the same form.
    let form: CommandForm?
    let deadline: UInt64
    let ticket: CallTicket
    let completion: @Sendable (Result<BusReply, RelayError>) -> Void

    init(
        _ call: MethodCall, _ form: CommandForm?, deadline: UInt64, _ ticket: CallTicket,
        completion: @escaping @Sendable (Result<BusReply, RelayError>) -> Void
    ) {
        (self.call, self.form, self.deadline) = (call, form, deadline)
        (self.ticket, self.completion) = (ticket, completion)
    }
    /// What is left of its time.
    var timeLeft: Duration { MonotonicClock.left(until: deadline) }
    func end(_ error: RelayError) { completion(.failure(error)) }
    var kind: CallMachine<WaitingCall, ServiceContract>.Kind {
        form == nil ? .standard : call.descriptors.isEmpty ? .command : .commandOnce
    }
    /// How it is called by a contract. Throws what cannot be sent.
    func applied(_ contract: ServiceContract?, to call: inout MethodCall) throws(RelayError) -> CallPlan? {
        guard let contract, let form else { return nil }
        let plan = try form.plan(for: contract).get()
        try plan.apply(to: &call)
        return plan
    }
}

/// A call on its way to the bus: what cancelling it needs.
final class CallTicket: @unchecked Sendable {  // Touched on the loop's thread only.
    var serial: UInt32?
    /// Where it was sent to.
    var destination = ""
    /// The object's own.
    var path = ""
    /// By which it was sent.
    var plan: CallPlan?
    /// Another one has other serials.
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
    /// It was not taken, and waits to be sent again.
    func returned() { (serial, plan, connection) = (nil, nil, nil) }
    /// Reports to the service that the caller has given up. Past the calls that wait there.
    func sendCancel() {
        guard let serial, let connection else { return }
        var body = WireWriter()
        body.uint32(serial)
        do throws(RelayError) {
            let header = MessageHeader.methodCall(
                path: path, interface: Stream1.name, member: "Cancel", destination: destination,
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
