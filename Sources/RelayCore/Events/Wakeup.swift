/// Somebody to wake for a delivery.
enum Wakeup: Sendable {
    case resume(UnsafeContinuation<Void, Never>)
    case schedule(Mailbox)
    case deliver(StreamBuffer.Waiter, DeliveryQueue.Item)
    case finish(StreamBuffer.Waiter)

    func run() {
        switch self {
        case .resume(let continuation): continuation.resume()
        case .schedule(let mailbox): mailbox.schedule()
        case .deliver(let continuation, let item): continuation.resume(returning: item)
        case .finish(let continuation): continuation.resume(returning: nil)
        }
    }
}
