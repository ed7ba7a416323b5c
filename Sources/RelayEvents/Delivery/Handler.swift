/// A handler without its type. Asynchronous ones run on the caller's actor, so that nothing comes between the look at
/// whether the subscription was cancelled and the call.
package enum Handler<Value>: Sendable {
    package typealias OnCallersActor = nonisolated(nonsending) @Sendable (Value) async -> Void
    case sync(@Sendable (Value) -> Void)
    case async(OnCallersActor)

    package nonisolated(nonsending) func callAsFunction(_ value: Value) async {
        switch self {
        case .sync(let body): body(value)
        case .async(let body): await body(value)
        }
    }
}

/// A handler that is on no actor, as what it is: a function that may be called from anywhere.
///
/// Swift calls an `@isolated(any)` function only with `await`, which queues and publishing threads cannot. The cast
/// changes the type alone: both are called alike, and only where `isolation` is nil, or by code that is on that actor.
package func unisolated<Value>(_ handler: @escaping @isolated(any) @Sendable (Value) -> Void)
    -> @Sendable (Value) -> Void
{
    unsafeBitCast(handler, to: (@Sendable (Value) -> Void).self)
}

package func unisolated<First, Value>(
    _ handler: @escaping @isolated(any) @Sendable (First, Value) -> Void
) -> @Sendable (First, Value) -> Void {
    unsafeBitCast(handler, to: (@Sendable (First, Value) -> Void).self)
}

/// A handler for a mailbox of an actor: without a hop if it is on that actor or on none.
package func onActor<Raw, Value: Sendable>(
    _ handler: @escaping @isolated(any) @Sendable (Value) -> Void, _ value: @escaping @Sendable (Raw) -> Value
) -> Handler<Raw> {
    if handler.isolation != nil { return .async { await handler(value($0)) } }
    let plain = unisolated(handler)
    return .sync { plain(value($0)) }
}
