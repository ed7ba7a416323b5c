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

/// An object, held weakly.
package class WeakReference: @unchecked Sendable {  // A weak reference may be read from any thread.
    /// Not to be asked for under a lock, unless the caller holds the object: this reference may turn out to be the last
    /// one, and the object's `deinit` is anybody's code.
    package var object: AnyObject? { reference }
    /// Kept apart from the reference, which forgets it.
    package let id: ObjectIdentifier
    private weak let reference: AnyObject?
    package init(_ object: AnyObject) { (reference, id) = (object, ObjectIdentifier(object)) }
}

/// An object, held weakly, with what it receives. It is called on the actor that subscribed it, or anywhere if it is
/// `Sendable`.
///
/// A class without the object's type, because a closure may not capture the metatype of a type that is not sendable.
package class WeakReceiver<Payload: Sendable>: WeakReference, @unchecked Sendable {
    /// False: the object is gone.
    package nonisolated(nonsending) func deliver(_ payload: Payload) async -> Bool { false }
    package nonisolated(nonsending) func deliver(_ gap: Gap) async -> Bool { false }
}

/// A subscriber object, with its type.
package final class WeakSubscriber<S: EventSubscriber>: WeakReceiver<S.Subscribed>, @unchecked Sendable {
    private weak let subscriber: S?
    package init(_ subscriber: S) {
        self.subscriber = subscriber
        super.init(subscriber)
    }
    package nonisolated(nonsending) override func deliver(_ payload: S.Subscribed) async -> Bool {
        guard let subscriber else { return false }
        await subscriber.on(payload)
        return true
    }
    package nonisolated(nonsending) override func deliver(_ gap: Gap) async -> Bool {
        guard let subscriber else { return false }
        await subscriber.onGap(gap)
        return true
    }
}

/// An actor that is not kept alive.
package final class WeakActor: Sendable {
    private weak let reference: (any Actor)?
    init(_ actor: any Actor) { reference = actor }
    package var actor: (any Actor)? { reference }
}
