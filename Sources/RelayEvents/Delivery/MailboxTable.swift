/// The mailboxes of one publisher or document: those that subscriptions share, and those of a single one.
struct MailboxTable: Sendable {
    /// Which mailbox deliveries share.
    struct Key: Hashable, Sendable {
        /// Set for an object's own mailbox.
        var owner: ObjectIdentifier?
        /// The identity of an actor, a queue or a pollable target, or 0 for the pool.
        var place: UInt
    }
    private var shared: [Key: Mailbox] = [:]
    /// Mailboxes of a single subscription.
    private var own: [ObjectIdentifier: Mailbox] = [:]

    var all: [Mailbox] { Array(shared.values) + Array(own.values) }

    /// A mailbox with one more user; the caller starts it, once the lock is released, if it is new.
    mutating func mailbox(_ key: Key?, _ place: @autoclosure () -> DeliveryPlace) -> (Mailbox, isNew: Bool) {
        if let key, let known = shared[key] {
            if !known.isOrphaned {
                known.addUser()
                return (known, false)
            }
            // Another actor has its address now.
            own[ObjectIdentifier(known)] = known
        }
        let mailbox = Mailbox(place())
        mailbox.addUser()
        if let key { shared[key] = mailbox } else { own[ObjectIdentifier(mailbox)] = mailbox }
        return (mailbox, true)
    }
    mutating func leave(_ mailbox: Mailbox, _ key: Key?, _ after: inout AfterUnlock) {
        guard mailbox.removeUser(&after) else { return }
        after.release(mailbox)
        own[ObjectIdentifier(mailbox)] = nil
        if let key, shared[key] === mailbox { shared[key] = nil }
    }
}
