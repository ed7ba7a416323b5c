import Synchronization

/// A subscriber object, held weakly, with what it receives.
///
/// A class without the subscriber's type, because a closure may not capture the metatype of a type that is not
/// sendable. It is called only on the actor that subscribed the object.
class WeakReceiver<Payload: Sendable>: AnyWeakReceiver, @unchecked Sendable {
    /// False: the object is gone.
    nonisolated(nonsending) func deliver(_ payload: Payload) async -> Bool { false }
    nonisolated(nonsending) func deliver(_ gap: Gap) async -> Bool { false }
}
class AnyWeakReceiver: @unchecked Sendable {
    private weak let reference: AnyObject?
    /// Kept apart from the reference, which forgets it.
    let id: ObjectIdentifier
    var isGone: Bool { reference == nil }
    init(_ object: AnyObject) { (reference, id) = (object, ObjectIdentifier(object)) }
}
final class TypedWeakReceiver<S: EventSubscriber>: WeakReceiver<S.Subscribed>, @unchecked Sendable {
    private weak let subscriber: S?
    init(_ subscriber: S) {
        self.subscriber = subscriber
        super.init(subscriber)
    }
    nonisolated(nonsending) override func deliver(_ payload: S.Subscribed) async -> Bool {
        guard let subscriber else { return false }
        await subscriber.on(payload)
        return true
    }
    nonisolated(nonsending) override func deliver(_ gap: Gap) async -> Bool {
        guard let subscriber else { return false }
        await subscriber.onGap(gap)
        return true
    }
}

/// The subscriptions of a relay's objects: one for each object and type. They last as long as the object.
final class ObjectSubscriptions: Sendable {
    private struct Key: Hashable {
        let object: ObjectIdentifier
        let type: ObjectIdentifier
    }
    private struct Entry {
        let object: AnyWeakReceiver
        let body: any SubscriptionBody
        /// Asked for under no lock: a weak reference may turn out to be the last one.
        var isOver: Bool { object.isGone || !body.isActive }
    }
    private let entries = Mutex<[Key: Entry]>([:])

    /// Throws `Conflict` for an object that has a subscription of the type.
    func add(_ body: any SubscriptionBody, of object: AnyWeakReceiver, to type: any Any.Type) throws(RelayError) {
        sweep()
        let key = Key(object: object.id, type: ObjectIdentifier(type))
        let isNew = entries.withLock { entries in
            if entries[key] != nil { return false }
            entries[key] = Entry(object: object, body: body)
            return true
        }
        if !isNew {
            throw RelayError(.conflict, "the object is subscribed to \(type) already: unsubscribe it first")
        }
    }
    func remove(_ object: AnyObject) {
        let id = ObjectIdentifier(object)
        end { $0.object == id }
    }
    /// Ends what is left of objects that are gone, and forgets what has ended.
    private func sweep() {
        let over = Set(entries.withLock { $0 }.filter(\.value.isOver).keys)
        if !over.isEmpty { end { over.contains($0) } }
    }
    private func end(_ isMeant: (Key) -> Bool) {
        let ended = entries.withLock { entries in
            let ended = entries.filter { isMeant($0.key) }
            for key in ended.keys { entries[key] = nil }
            return ended
        }
        for entry in ended.values { entry.body.cancel() }
    }
}
