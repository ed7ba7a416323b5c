import Glibc
import Synchronization
public import Testing

/// Keeps heavy tests from starving each other: swift-testing starts all tests at once.
///
/// A gate has a few places, as many tests run at once, and the others wait for them FIFO, those of serialized suites
/// before all others. Tests without a gate are free.
public struct GateTrait: SuiteTrait, TestTrait, TestScoping {
    /// How many places a test takes; nil takes all.
    fileprivate let places: Int?

    public var isRecursive: Bool { true }
    public func scopeProvider(for test: Test, testCase: Test.Case?) -> Self? { testCase == nil ? nil : self }
    public func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        // A suite and one of its tests may both be heavy: the outer one has the place.
        if Self.isInside { return try await function() }
        let taken = min(places ?? Gate.shared.places, Gate.shared.places)
        // One after the other takes long: they go first, or each would wait behind all others again.
        let goesFirst = test.traits.contains { $0 is ParallelizationTrait }
        await Gate.shared.enter(taken, goesFirst: goesFirst)
        defer { Gate.shared.leave(taken) }
        try await Self.$isInside.withValue(true) { try await function() }
    }
    @TaskLocal private static var isInside = false
}

extension Trait where Self == GateTrait {
    /// Has processes, a bus or a ring of its own, or keeps a processor busy: a few of these run at once.
    ///
    /// Use it instead of a time limit: the time in which a test waits for its place would count. A test that hangs is ended by
    /// scripts/bounded-swift.
    public static var heavy: Self { Self(places: 1) }
    /// No other heavy test runs beside it.
    public static var alone: Self { Self(places: nil) }
}

private final class Gate: Sendable {
    /// One in the process: what is shared is the machine.
    static let shared = Gate(places: max(4, sysconf(Int32(_SC_NPROCESSORS_ONLN)) * 3 / 2))

    private struct State {
        var free: Int
        var waiting: [(places: Int, continuation: CheckedContinuation<Void, Never>)] = []
    }
    let places: Int
    private let state: Mutex<State>

    init(places: Int) {
        self.places = places
        state = Mutex(State(free: places))
    }
    func enter(_ places: Int, goesFirst: Bool) async {
        await withCheckedContinuation { continuation in
            let mayEnter = state.withLock { state in
                // Behind whatever waits already: a test that needs all places gets them.
                if !state.waiting.isEmpty || state.free < places {
                    state.waiting.insert((places, continuation), at: goesFirst ? 0 : state.waiting.count)
                    return false
                }
                state.free -= places
                return true
            }
            if mayEnter { continuation.resume() }
        }
    }
    func leave(_ places: Int) {
        let next = state.withLock { state in
            state.free += places
            var next: [CheckedContinuation<Void, Never>] = []
            while let first = state.waiting.first, first.places <= state.free {
                state.free -= first.places
                next.append(state.waiting.removeFirst().continuation)
            }
            return next
        }
        for continuation in next { continuation.resume() }
    }
}
