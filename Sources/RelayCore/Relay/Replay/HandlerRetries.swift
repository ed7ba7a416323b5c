/// When a handler that threw is called again with the same event, and when its subscription ends.
struct HandlerRetries: Sendable {
    private let pauses: [Duration]
    private var made = 0

    init(_ pauses: [Duration]) { self.pauses = pauses }

    /// How long to wait before the next attempt; nil: there is none.
    mutating func next() -> Duration? {
        guard made < pauses.count else { return nil }
        made += 1
        return pauses[made - 1]
    }
    mutating func reset() { made = 0 }
}

/// The object of a weak subscription is gone: nothing is left to call.
struct SubscriberReleased: Error {}

/// What a subscription reports of its handler.
enum HandlerReport: Sendable {
    /// It threw, and is called again after a pause.
    case threw(any Error, pause: Duration)
    /// It threw again, and the subscription has ended.
    case ended(any Error)
    /// Its object is gone, and the subscription has ended.
    case released
}

/// A handler that waits, and may throw. It runs on the caller's actor, so that nothing comes between the look at whether
/// the subscription was cancelled and the call.
struct ThrowingHandler<Value>: Sendable {
    typealias Body = nonisolated(nonsending) @Sendable (Value) async throws -> Void
    let call: Body
    init(_ call: @escaping Body) { self.call = call }
}

extension Weakly {
    /// - Throws: `SubscriberReleased`.
    func held() throws -> Object {
        guard let object else { throw SubscriberReleased() }
        return object
    }
}
