/// Which view is called with which state, for the views that are called on the thread that sets: as a value.
///
/// One thread at a time makes the calls. What is added or set meanwhile, within a view or on another thread, joins the
/// queue that this thread works through: nothing is nested, and every view sees the states in their order.
struct ViewCalls<State: Sendable>: Sendable {
    typealias ViewID = UInt64
    private struct Call: Sendable {
        let view: ViewID
        let state: State
    }
    /// In the order in which they were added.
    private var views: [ViewID] = []
    private var due = Deque<Call>()
    /// How many of the calls that are due are for each view.
    private var counts: [ViewID: Int] = [:]
    /// Whether a thread makes the calls.
    private(set) var isCalling = false
    /// How many calls may be due to one view. Past that its oldest one is left out.
    private let limit: Int

    init(limit: Int) { self.limit = limit }

    /// A view has come, and is called with the present state. True: the caller makes the calls, by `next()`.
    mutating func add(_ view: ViewID, _ present: State) -> Bool {
        views.append(view)
        _ = append(Call(view: view, state: present))
        return begin()
    }
    /// There is another state. True: the caller makes the calls, by `next()`.
    ///
    /// - Parameter dropped: gets the states that were left out, to be released where no lock is held.
    mutating func set(_ state: State, _ dropped: inout [State]) -> Bool {
        for view in views {
            if let left = append(Call(view: view, state: state)) { dropped.append(left) }
        }
        return begin()
    }
    /// A view has gone: it is called no more. Returns what was due to it.
    mutating func remove(_ view: ViewID) -> [State] {
        views.removeAll { $0 == view }
        guard counts.removeValue(forKey: view) != nil else { return [] }
        var dropped: [State] = []
        due.filter { call in
            if call.view == view { dropped.append(call.state) }
            return call.view != view
        }
        return dropped
    }
    /// The next call; nil: there is none, and the caller is done.
    mutating func next() -> (view: ViewID, state: State)? {
        guard let call = due.popFirst() else {
            isCalling = false
            return nil
        }
        uncount(call.view)
        return (call.view, call.state)
    }

    private mutating func begin() -> Bool {
        if isCalling || due.isEmpty { return false }
        isCalling = true
        return true
    }
    private mutating func append(_ call: Call) -> State? {
        var dropped: State?
        if counts[call.view, default: 0] >= limit {
            due.filter { other in
                guard dropped == nil, other.view == call.view else { return true }
                dropped = other.state
                return false
            }
            uncount(call.view)
        }
        due.append(call)
        counts[call.view, default: 0] += 1
        return dropped
    }
    private mutating func uncount(_ view: ViewID) {
        let left = counts[view, default: 1] - 1
        counts[view] = left == 0 ? nil : left
    }
}
