/// An object that receives one type of event, or all events of an interface.
///
/// The publisher holds it weakly. An object that is subscribed twice is one subscriber.
///
/// ```swift
/// @MainActor final class JobList: EventSubscriber {
///     func on(_ event: JobPrinted) { rows.append(event.title) }
///     func onGap(_ gap: Gap) { reload() }
/// }
/// ```
///
/// The requirements are `async` and the protocol is not `Sendable`, so that `@MainActor` classes, actors and plain
/// classes can conform, each with an ordinary synchronous `on(_:)`. Mark an `on(_:)` that is itself `async` with
/// `@MainActor`: in this case, Swift does not infer the isolation of the class.
///
/// - Order: that of `publish`. The next event waits until `on(_:)` has returned. An object has its own order: it delays
///   no other subscriber on the same actor, and none delays it.
/// - Loss: `onGap(_:)` is called in place of the missing events.
public protocol EventSubscriber<Subscribed>: AnyObject {
    /// The type of event; at a relay also a whole interface, if it is an ``EnumInterface``.
    associatedtype Subscribed: Sendable
    /// Is called with each event.
    ///
    /// - Parameter event: the event.
    nonisolated(nonsending) func on(_ event: Subscribed) async
    /// Is called when events are missing.
    ///
    /// There is no default. An object that ignores gaps has an empty method.
    ///
    /// - Parameter gap: the missing range.
    nonisolated(nonsending) func onGap(_ gap: Gap) async
}

/// Carries a subscriber to where it is called: on the actor that subscribed it, or anywhere if it is `Sendable`.
///
/// A class without the subscriber's type, because a closure may not capture the metatype of a type that is not
/// sendable.
class WeakReference: @unchecked Sendable {
    /// Not to be asked for under a lock, unless the caller holds the object: this reference may turn out to be the last
    /// one, and the object's `deinit` is anybody's code.
    var object: AnyObject? { reference }
    private weak let reference: AnyObject?
    init(_ object: AnyObject) { reference = object }
    nonisolated(nonsending) func deliver(_ box: AnyEventBox) async {}
    nonisolated(nonsending) func deliver(_ gap: Gap) async {}
}

/// A subscriber object, held weakly, with its type.
final class WeakSubscriber<S: EventSubscriber>: WeakReference, @unchecked Sendable where S.Subscribed: Event {
    private weak let subscriber: S?
    init(_ subscriber: S) {
        self.subscriber = subscriber
        super.init(subscriber)
    }
    nonisolated(nonsending) override func deliver(_ box: AnyEventBox) async {
        await subscriber?.on(EventBox<S.Subscribed>.value(in: box))
    }
    nonisolated(nonsending) override func deliver(_ gap: Gap) async { await subscriber?.onGap(gap) }
}

/// An actor that is not kept alive.
package final class WeakActor: Sendable {
    private weak let reference: (any Actor)?
    init(_ actor: any Actor) { reference = actor }
    package var actor: (any Actor)? { reference }
}
