public import Dispatch

/// Where to run handlers that are not isolated to an actor.
public struct DeliveryTarget: Sendable {
    package enum Kind: Sendable {
        case immediate, background, actor(any Actor), queue(DispatchQueue), pollable(PollableTarget)
    }
    package let kind: Kind

    /// On the publishing thread, before `publish` returns. A handler that blocks there delays everything.
    ///
    /// A handler that is isolated to the main actor is called there: before `publish` returns, behind what was published
    /// earlier, if `publish` is called on the main actor, otherwise in one of its next turns. A handler that is isolated
    /// to another actor is called in one of that actor's next turns.
    public static let immediate = Self(kind: .immediate)
    /// On threads of their own, one event at a time. There is no order between two subscriptions.
    ///
    /// A handler may block there: it delays its own subscription. A process has 256 of these threads; when all of them are
    /// taken, further deliveries wait.
    public static let background = Self(kind: .background)
    /// On the main actor, for a user interface.
    public static var mainActor: Self { Self(kind: .actor(MainActor.shared)) }
    /// On an actor.
    ///
    /// - Parameter actor: the actor, which the subscription keeps alive.
    public static func actor(_ actor: any Actor) -> Self { Self(kind: .actor(actor)) }
    /// On a queue, one event at a time, even if the queue is concurrent.
    ///
    /// - Parameter queue: the queue.
    public static func queue(_ queue: DispatchQueue) -> Self { Self(kind: .queue(queue)) }
    /// On a foreign main loop, when it calls ``PollableTarget/drain()``.
    ///
    /// - Parameter target: the descriptor to poll.
    public static func pollable(_ target: PollableTarget) -> Self { Self(kind: .pollable(target)) }
}

extension DispatchQueue {
    /// The same for every object that stands for this queue.
    ///
    /// On Linux, `DispatchQueue.main` and `.global()` make a new object at each call, so that an object's own identity
    /// would give each subscription an order of its own. Without the field, that is what is left.
    var identity: UInt {
        if let queue = Mirror(reflecting: self).descendant("__wrapped") as? OpaquePointer {
            return UInt(bitPattern: queue)
        }
        return UInt(bitPattern: ObjectIdentifier(self))
    }
}

/// Where the main actor runs: on Linux no thread of its own, but whatever thread serves Dispatch's main queue.
enum MainQueue {
    private static let key = DispatchSpecificKey<Bool>()
    private static let isMarked: Void = DispatchQueue.main.setSpecific(key: key, value: true)
    /// Before `isCurrent` is asked for.
    static func prepare() { isMarked }
    /// Whether the caller runs on the main actor, or on its queue, which is as good.
    static var isCurrent: Bool { DispatchQueue.getSpecific(key: key) == true }
}

/// Where a buffered subscription's handlers run.
package enum DeliveryPlace {
    /// Those for code that may block.
    case threads
    /// An actor that lives anyway: the main actor, or one that belongs to this mailbox.
    case actor(any Actor)
    /// An actor that a subscription alone does not keep alive.
    case weakActor(WeakActor)
    case queue(DispatchQueue)
    case pollable(PollableTarget)
    /// A queue or a foreign main loop, for handlers that await.
    case executor(PlaceExecutor)

    /// Where a task runs that delivers here; nil: its actor decides.
    package var taskExecutor: (any TaskExecutor)? {
        switch self {
        case .threads: HandlerThreads.ofProcess
        case .executor(let executor): executor
        case .actor, .weakActor, .queue, .pollable: nil
        }
    }
}

/// Where a buffered subscription is delivered, and which subscriptions share its order.
package struct DeliveryRoute {
    /// nil: with nobody.
    let key: MailboxTable.Key?
    package let place: DeliveryPlace
    /// What the subscription keeps alive.
    package let keeps: (any Actor)?

    private init(_ key: MailboxTable.Key?, _ place: DeliveryPlace, keeps: (any Actor)? = nil) {
        (self.key, self.place, self.keeps) = (key, place, keeps)
    }

    /// Synchronous handlers on an actor, which they hold themselves if they need it.
    package static func closures(on actor: any Actor) -> Self {
        Self(.init(place: UInt(bitPattern: ObjectIdentifier(actor))), place(of: actor))
    }
    /// Synchronous handlers; immediate ones have no route, and are in the background here.
    package static func closures(_ target: DeliveryTarget) -> Self {
        switch target.kind {
        case .immediate, .background: Self(nil, .threads)
        case .actor(let actor):
            Self(.init(place: UInt(bitPattern: ObjectIdentifier(actor))), place(of: actor), keeps: actor)
        case .queue(let queue): Self(.init(place: queue.identity), .queue(queue))
        case .pollable(let target): Self(.init(place: UInt(bitPattern: ObjectIdentifier(target))), .pollable(target))
        }
    }
    /// A handler that awaits, on an actor, with an order of its own.
    package static func task(on actor: any Actor) -> Self { Self(nil, place(of: actor)) }
    /// A task's own place, with an order of its own: what awaits between two handlers needs.
    package static func task(_ target: DeliveryTarget) -> Self {
        switch target.kind {
        case .immediate, .background, .actor: closures(target)
        case .queue(let queue): Self(nil, .executor(PlaceExecutor(queue)))
        case .pollable(let target): Self(nil, .executor(PlaceExecutor(target)))
        }
    }
    /// An object whose handler may await, on an actor.
    package static func object(_ object: AnyObject, on actor: any Actor) -> Self {
        Self(.init(owner: ObjectIdentifier(object), place: UInt(bitPattern: ObjectIdentifier(actor))), place(of: actor))
    }
    /// An object whose handler may await; an actor is called on itself.
    static func object(_ object: AnyObject, _ target: DeliveryTarget) -> Self {
        if let actor = object as? any Actor { return Self.object(object, on: actor) }
        let owner = ObjectIdentifier(object)
        switch target.kind {
        case .immediate, .background: return Self(.init(owner: owner, place: 0), .threads)
        case .actor(let actor):
            return Self(
                .init(owner: owner, place: UInt(bitPattern: ObjectIdentifier(actor))), place(of: actor), keeps: actor)
        case .queue(let queue):
            return Self(.init(owner: owner, place: queue.identity), .executor(PlaceExecutor(queue)))
        case .pollable(let target):
            return Self(
                .init(owner: owner, place: UInt(bitPattern: ObjectIdentifier(target))), .executor(PlaceExecutor(target))
            )
        }
    }
    private static func place(of actor: any Actor) -> DeliveryPlace {
        // Global actors live for ever; waiting on theirs saves a hop.
        actor === MainActor.shared ? .actor(actor) : .weakActor(WeakActor(actor))
    }
}
