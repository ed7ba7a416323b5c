import Synchronization
/// The subscriptions of a relay's objects: one for each object and type. They last as long as the object.
final class ObjectSubscriptions: Sendable {
    private struct Key: Hashable {
        let object: ObjectIdentifier
        let type: ObjectIdentifier
    }
    private struct Entry {
        let reference: WeakReference
        let body: any SubscriptionBody
        /// Asked for under no lock: a weak reference may turn out to be the last one.
        var isOver: Bool { reference.object == nil || !body.isActive }
    }
    private let entries = Mutex<[Key: Entry]>([:])

    /// Throws `Conflict` for an object that has a subscription of the type.
    func add(_ body: any SubscriptionBody, of object: WeakReference, to type: any Any.Type) throws(RelayError) {
        sweep()
        let key = Key(object: object.id, type: ObjectIdentifier(type))
        let isNew = entries.withLock { entries in
            if entries[key] != nil { return false }
            entries[key] = Entry(reference: object, body: body)
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
