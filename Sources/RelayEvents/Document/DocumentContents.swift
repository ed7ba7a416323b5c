/// What a document's lock guards.
struct DocumentContents<State: Sendable & Equatable>: Sendable {
    typealias Box = EventBox<ShownState<State>>
    struct View: Sendable {
        fileprivate enum Kind: Sendable {
            case immediate(@Sendable (State) -> Void)
            case buffered(BufferedSubscriber)
        }
        fileprivate let id: UInt64
        let key: AnyKey
        fileprivate let kind: Kind
        /// Of an object.
        private let reference: WeakReference?

        fileprivate init(_ id: UInt64, _ key: AnyKey, _ kind: Kind, _ reference: WeakReference? = nil) {
            (self.id, self.key, self.kind, self.reference) = (id, key, kind, reference)
        }
        /// nil for one that is called at once.
        var subscriber: BufferedSubscriber? { if case .buffered(let subscriber) = kind { subscriber } else { nil } }
        /// Its object is gone. Not to be asked under a lock.
        var isDead: Bool { reference.map { $0.object == nil } ?? false }
    }
    private(set) var present: Box
    /// How many changes there were.
    private(set) var revision: UInt64 = 0
    /// In the order in which they were added.
    private(set) var views: [View] = []
    private var lastID: UInt64 = 0
    private var calls = ViewCalls<Box>(limit: DocumentLimits.statesBehind)
    var mailboxes = MailboxTable()
    /// Past so many views, dead objects are looked for.
    var viewsToSweep = 16

    init(_ state: State) { present = Box(ShownState(state: state)) }
    var isCalling: Bool { calls.isCalling }

    /// True: the caller makes the calls of immediate views.
    mutating func replace(_ box: Box, _ after: inout AfterUnlock) -> Bool {
        after.release(present)
        (present, revision) = (box, revision + 1)
        for view in views { view.subscriber?.offer(box, .ofState, &after) }
        var dropped: [Box] = []
        let makesCalls = calls.set(box, &dropped)
        for box in dropped { after.release(box) }
        return makesCalls
    }
    /// True: the caller makes the calls of immediate views.
    mutating func add(_ key: AnyKey, _ show: @escaping @Sendable (State) -> Void) -> Bool {
        lastID += 1
        views.append(View(lastID, key, .immediate(show)))
        return calls.add(lastID, present)
    }
    mutating func add(
        _ key: AnyKey, _ subscriber: BufferedSubscriber, _ reference: WeakReference?, _ after: inout AfterUnlock
    ) {
        lastID += 1
        views.append(View(lastID, key, .buffered(subscriber), reference))
        subscriber.offer(present, .ofState, &after)
    }
    /// Returns the views that were removed, to be cancelled and released where no lock is held.
    mutating func remove(_ after: inout AfterUnlock, _ isMeant: (View) -> Bool) -> [View] {
        let removed = views.filter(isMeant)
        if removed.isEmpty { return [] }
        views.removeAll(where: isMeant)
        for view in removed { for box in calls.remove(view.id) { after.release(box) } }
        return removed
    }
    /// The next immediate view to be called, and the state; nil: the caller is done.
    mutating func nextCall() -> (@Sendable (State) -> Void, Box)? {
        while let call = calls.next() {
            if case .immediate(let show)? = views.first(where: { $0.id == call.view })?.kind {
                return (show, call.state)
            }
        }
        return nil
    }
}

enum DocumentLimits {
    /// How many states a view may be behind.
    static let statesBehind = 64
}

extension Stamp {
    /// What the paths of events carry with a state. No view sees it.
    fileprivate static let ofState = Stamp(
        epoch: 1, sequence: 1, previous: 0, publishedAt: Timestamp(microseconds: 0))
}
