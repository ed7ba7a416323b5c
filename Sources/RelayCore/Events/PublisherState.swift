/// What a publisher's lock guards.
struct PublisherState {
    /// Which mailbox deliveries share.
    struct MailboxKey: Hashable {
        /// Set for an object's own mailbox.
        var owner: ObjectIdentifier?
        /// The identity of an actor, a queue or a pollable target, or 0 for the pool.
        var place: UInt
    }
    /// A subscriber object and its subscriptions, by event type.
    struct Object {
        let reference: WeakReference
        var subscriptions: [ObjectIdentifier: BufferedSubscriber] = [:]
    }

    var channels = TypeTable<Channel>()
    var sequence: UInt64 = 0
    var mailboxes: [MailboxKey: Mailbox] = [:]
    /// Mailboxes of a single subscription.
    var privateMailboxes: [ObjectIdentifier: Mailbox] = [:]
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
    /// A mailbox with one more user; the caller starts it, once the lock is released, if it is new.
    mutating func mailbox(_ key: MailboxKey?, _ place: @autoclosure () -> Mailbox.Place) -> (Mailbox, isNew: Bool) {
        if let key, let known = mailboxes[key] {
            if !known.isOrphaned {
                known.addUser()
                return (known, false)
            }
            // Another actor has its address now.
            privateMailboxes[ObjectIdentifier(known)] = known
        }
        let mailbox = Mailbox(place())
        mailbox.addUser()
        if let key { mailboxes[key] = mailbox } else { privateMailboxes[ObjectIdentifier(mailbox)] = mailbox }
        return (mailbox, true)
    }
    mutating func leave(_ mailbox: Mailbox, _ key: MailboxKey?, _ after: inout Aftermath) {
        guard mailbox.removeUser(&after) else { return }
        after.release(mailbox)
        privateMailboxes[ObjectIdentifier(mailbox)] = nil
        if let key, mailboxes[key] === mailbox { mailboxes[key] = nil }
    }
}
