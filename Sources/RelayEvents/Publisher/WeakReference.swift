/// An object of a known type, held weakly: for closures that run on their caller's actor. With a capture list of its own such
/// a closure leaves that actor and comes back (6.3.1): two turns of the main queue for each event.
package struct Weakly<Object: AnyObject>: @unchecked Sendable {  // As with `WeakReference`.
    package private(set) weak var object: Object?
    package init(_ object: Object) { self.object = object }
}

/// An object, held weakly.
package class WeakReference: @unchecked Sendable {  // A weak reference may be read from any thread.
    /// Not to be asked for under a lock, unless the caller holds the object: this reference may turn out to be the last
    /// one, and the object's `deinit` is anybody's code.
    package var object: AnyObject? { reference }
    /// Kept apart from the reference, which forgets it.
    package let id: ObjectIdentifier
    private weak let reference: AnyObject?
    /// Its class, for reports.
    package let type: AnyObject.Type
    package init(_ object: AnyObject) {
        (reference, id, type) = (object, ObjectIdentifier(object), Swift.type(of: object))
    }
}

/// An actor that is not kept alive.
package final class WeakActor: Sendable {
    private weak let reference: (any Actor)?
    init(_ actor: any Actor) { reference = actor }
    package var actor: (any Actor)? { reference }
}
