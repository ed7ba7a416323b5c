/// What a publisher's lock guards.
struct PublisherState {
    /// A subscriber object and its subscriptions, by event type.
    struct Object {
        let reference: WeakReference
        var subscriptions: [ObjectIdentifier: BufferedSubscriber] = [:]
    }

    var channels = TypeTable<Channel>()
    var sequence: UInt64 = 0
    var mailboxes = MailboxTable()
    /// Of a publisher that delivers at once: the mailbox of the handlers on the main actor. What is published there does
    /// not wait for the main actor's next turn.
    var atOnce: Mailbox?
    var objects: [ObjectIdentifier: Object] = [:]
    /// Past so many objects, dead ones are looked for.
    var objectsToSweep = 16
    var interfaceStreams: [ObjectIdentifier: [StreamBuffer]] = [:]
    var taps: ContiguousArray<Tap> = []

    /// The channel of a type, made if there is none. New ones join the streams of their interface.
    mutating func channel<E: Event>(for type: E.Type) -> Channel {
        if let channel = channels.value(for: ObjectIdentifier(type)) { return channel }
        let channel = Channel(type)
        channels.insert(channel, for: ObjectIdentifier(type))
        if let interface = channel.interface {
            for stream in interfaceStreams[interface] ?? [] { channel.add(stream) }
        }
        return channel
    }
}

/// Called by a publisher when a type gets its first subscriber, and when it loses its last. The relay is one.
///
/// A stream of a whole interface is an interest in every event of its contract; a tap is none. The calls for one
/// publisher come one at a time, each with the state at that moment, and the last one is right, whatever threads
/// subscribed and cancelled at once. When `subscribe` or `cancel` returns, the observer knows of it.
///
/// Called on the thread that subscribes or cancels, without the publisher's lock but under one that orders these calls:
/// an observer may publish there, but must not subscribe or cancel, and nobody may subscribe or cancel while holding a
/// lock that the observer takes.
package protocol InterestObserver: AnyObject, Sendable {
    /// Why no event of a type can ever come here, as a gap for each of its subscribers; nil: some may.
    func objection<E: Event>(to type: E.Type) -> Gap?
    func interestBegan<E: Event>(in type: E.Type)
    func interestEnded<E: Event>(in type: E.Type)
    /// An object was released while it was subscribed.
    func subscriberReleased(_ object: WeakReference)
}

extension InterestObserver {
    package func objection<E: Event>(to type: E.Type) -> Gap? { nil }
    package func subscriberReleased(_ object: WeakReference) {}
}
