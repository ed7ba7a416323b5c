/// Told by a publisher when a type gets its first subscriber, and when it loses its last. The relay is one.
///
/// A stream of a whole interface is an interest in every event of its contract; a tap is none. The calls for one publisher
/// come one at a time, each says how things stand at that moment, and the last one is right, whatever threads subscribed
/// and cancelled at once. When `subscribe` or `cancel` returns, the observer knows of it.
///
/// Called on the thread that subscribes or cancels, without the publisher's lock but under one that orders these calls: an
/// observer may publish there, but must not subscribe or cancel, and nobody may subscribe or cancel while holding a lock
/// that the observer takes.
package protocol InterestObserver: AnyObject, Sendable {
    func interestBegan<E: Event>(in type: E.Type)
    func interestEnded<E: Event>(in type: E.Type)
}
