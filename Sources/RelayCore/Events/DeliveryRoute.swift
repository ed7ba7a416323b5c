import Dispatch

/// Where a buffered subscription is delivered, and with whom it shares an order.
struct DeliveryRoute {
    /// nil: with nobody.
    let key: PublisherState.MailboxKey?
    let place: Mailbox.Place
    /// What the subscription keeps alive.
    let keeps: (any Actor)?

    private init(_ key: PublisherState.MailboxKey?, _ place: Mailbox.Place, keeps: (any Actor)? = nil) {
        (self.key, self.place, self.keeps) = (key, place, keeps)
    }

    /// Synchronous handlers on an actor, which they hold themselves if they need it.
    static func closures(on actor: any Actor) -> Self {
        Self(.init(place: UInt(bitPattern: ObjectIdentifier(actor))), place(of: actor))
    }
    /// Synchronous handlers; immediate ones have no route, and are in the background here.
    static func closures(_ target: DeliveryTarget) -> Self {
        switch target.kind {
        case .immediate, .background: Self(nil, .pool)
        case .actor(let actor):
            Self(.init(place: UInt(bitPattern: ObjectIdentifier(actor))), place(of: actor), keeps: actor)
        case .queue(let queue): Self(.init(place: queue.identity), .queue(queue))
        case .pollable(let target): Self(.init(place: UInt(bitPattern: ObjectIdentifier(target))), .pollable(target))
        }
    }
    /// An object whose handler may await, on an actor.
    static func object(_ object: AnyObject, on actor: any Actor) -> Self {
        Self(.init(owner: ObjectIdentifier(object), place: UInt(bitPattern: ObjectIdentifier(actor))), place(of: actor))
    }
    /// An object whose handler may await; an actor is called on itself.
    static func object(_ object: AnyObject, _ target: DeliveryTarget) -> Self {
        if let actor = object as? any Actor { return Self.object(object, on: actor) }
        let owner = ObjectIdentifier(object)
        switch target.kind {
        case .immediate, .background: return Self(.init(owner: owner, place: 0), .pool)
        case .actor(let actor):
            return Self(
                .init(owner: owner, place: UInt(bitPattern: ObjectIdentifier(actor))), place(of: actor), keeps: actor)
        case .queue(let queue):
            return Self(.init(owner: owner, place: queue.identity), .actor(SerialPlace(queue)))
        case .pollable(let target):
            return Self(
                .init(owner: owner, place: UInt(bitPattern: ObjectIdentifier(target))), .actor(SerialPlace(target)))
        }
    }
    private static func place(of actor: any Actor) -> Mailbox.Place {
        // Global actors live for ever; waiting on theirs saves a hop.
        actor === MainActor.shared ? .actor(actor) : .weakActor(WeakActor(actor))
    }
}
