/// Carries a subscriber to where it is called: on the actor that subscribed it, or anywhere if it is `Sendable`.
///
/// A class without the subscriber's type, because a closure may not capture the metatype of a type that is not sendable.
class WeakReference: @unchecked Sendable {
    /// Not to be asked for under a lock, unless the caller holds the object: this reference may turn out to be the last one,
    /// and the object's `deinit` is anybody's code.
    var object: AnyObject? { reference }
    private weak let reference: AnyObject?
    init(_ object: AnyObject) { reference = object }
    nonisolated(nonsending) func deliver(_ box: AnyEventBox) async {}
    nonisolated(nonsending) func deliver(_ gap: Gap) async {}
}
