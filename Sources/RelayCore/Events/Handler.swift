/// A handler without its type. Asynchronous ones run on the caller's actor, so that nothing comes between the look at
/// whether the subscription was cancelled and the call.
enum Handler<Value>: Sendable {
    typealias OnCallersActor = nonisolated(nonsending) @Sendable (Value) async -> Void
    case sync(@Sendable (Value) -> Void)
    case async(OnCallersActor)

    nonisolated(nonsending) func callAsFunction(_ value: Value) async {
        switch self {
        case .sync(let body): body(value)
        case .async(let body): await body(value)
        }
    }
}
