import TestTraits
import Testing

@testable import RelayEvents

/// A document's immediate views, and the thread that calls them, as a value: for explorations.
private struct CallWorld {
    enum Input: CaseIterable {
        /// Within a call of a view, between two, or on another thread: to the machine that is the same.
        case set, addFirst, addSecond, removeFirst, removeSecond
        /// The view that is called returns, and the thread asks for the next call.
        case next
    }
    private struct View {
        let id: UInt64
        /// What it was called with.
        var seen: [Int] = []
        /// The state when it was added.
        let first: Int
    }
    private var calls: ViewCalls<Int>
    private var views: [View?] = [nil, nil]
    private var present = 0
    private var lastID: UInt64 = 0
    private var lastCall = 0
    private var isCalling = false
    private let isBounded: Bool
    /// What contradicts the promise.
    private(set) var fault: String?

    init(limit: Int?) {
        calls = ViewCalls(limit: limit ?? 1_000)
        isBounded = limit != nil
    }
    /// False: the input does not apply here.
    mutating func apply(_ input: Input) -> Bool {
        switch input {
        case .set:
            present += 1
            var dropped: [Int] = []
            begins(calls.set(present, &dropped))
            if !isBounded, !dropped.isEmpty { fault = "left out \(dropped)" }
        case .addFirst: return add(0)
        case .addSecond: return add(1)
        case .removeFirst: return remove(0)
        case .removeSecond: return remove(1)
        case .next:
            guard isCalling else { return false }
            next()
        }
        return true
    }
    private mutating func begins(_ isCaller: Bool) {
        if isCaller, isCalling { fault = "two threads make calls" }
        isCalling = isCalling || isCaller
    }
    private mutating func add(_ index: Int) -> Bool {
        guard views[index] == nil else { return false }
        lastID += 1
        views[index] = View(id: lastID, first: present)
        begins(calls.add(lastID, present))
        return true
    }
    private mutating func remove(_ index: Int) -> Bool {
        guard let view = views[index] else { return false }
        _ = calls.remove(view.id)
        views[index] = nil
        return true
    }
    private mutating func next() {
        guard let (id, state) = calls.next() else {
            isCalling = false
            for view in views.compactMap({ $0 }) where view.seen.last != present {
                fault = "the calls are over, and a view saw \(view.seen) of \(present)"
            }
            return
        }
        guard let index = views.firstIndex(where: { $0?.id == id }), let view = views[index] else {
            return fault = "a view was called that was removed"
        }
        if state < lastCall { fault = "\(state) after another view's \(lastCall)" }
        let expected = (view.seen.last ?? view.first - 1) + 1
        if isBounded ? state < expected : state != expected { fault = "\(state) after \(view.seen)" }
        lastCall = state
        views[index]?.seen.append(state)
    }
    /// Makes all calls that are due.
    mutating func settle() { for _ in 0..<1_000 where isCalling { next() } }
    var isQuiet: Bool { !isCalling }
}

@Suite("Which view is called with which state", .computing) struct ViewCallsTests {
    @Test(
        "every interleaving of changes, additions, removals and calls: each view sees all states in order, and the last",
        arguments: [nil, 1, 2] as [Int?])
    func explore(limit: Int?) throws {
        var count = 0
        func visit(_ world: CallWorld, _ inputs: [CallWorld.Input], _ depth: Int) throws {
            count += 1
            try #require(world.fault == nil, "\(inputs)")
            var rest = world
            rest.settle()
            try #require(rest.fault == nil && rest.isQuiet, "\(inputs), then all calls")
            if depth == 0 { return }
            for input in CallWorld.Input.allCases {
                var next = world
                if next.apply(input) { try visit(next, inputs + [input], depth - 1) }
            }
        }
        try visit(CallWorld(limit: limit), [], TestForm.rounds(7, soak: 9))
        #expect(count > 10_000)
    }
    @Test("a view that is far behind is called with the newest states, as many as there may be due")
    func bound() {
        var calls = ViewCalls<Int>(limit: 3)
        let (isCaller, first) = (calls.add(1, 0), calls.next())
        #expect(isCaller && first?.state == 0)
        var dropped: [Int] = []
        let areCallers = (1...10).map { calls.set($0, &dropped) }
        #expect(!areCallers.contains(true) && dropped == Array(1...7))
        var seen: [Int] = []
        while let call = calls.next() { seen.append(call.state) }
        #expect(seen == [8, 9, 10] && !calls.isCalling)
    }
}
