import Glibc
import Synchronization
public import Testing

/// Keeps heavy tests from starving each other: swift-testing starts all tests at once.
///
/// A gate has a few places. Each case takes one and the others wait, FIFO. What is serialized takes one place for all of its
/// cases and goes first: else each case would wait behind everything else again. Tests without a gate are free.
public struct GateTrait: SuiteTrait, TestTrait, TestScoping {
    public var isRecursive: Bool { true }
    public func scopeProvider(for test: Test, testCase: Test.Case?) -> Self? {
        testCase != nil || test.traits.contains { $0 is ParallelizationTrait } ? self : nil
    }
    public func prepare(for test: Test) async throws {
        try await ConditionTrait.disabled(if: TestForm.isQuick, "heavy: RELAY_QUICK leaves it out").prepare(for: test)
    }
    public func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        // A suite and one of its tests may both be heavy: the outer one has the place.
        if Self.isInside { return try await function() }
        await Gate.shared.enter(goesFirst: testCase == nil)
        defer { Gate.shared.leave() }
        try await Self.$isInside.withValue(true) { try await function() }
    }
    @TaskLocal private static var isInside = false
}

extension Trait where Self == GateTrait {
    /// Has processes, a bus or a ring of its own: a few of these run at once, and none in `make check`.
    ///
    /// Use it instead of a time limit: the time in which a test waits for its place would count. A test that hangs is ended by
    /// scripts/bounded-swift.
    public static var heavy: Self { Self() }
}

private final class Gate: Sendable {
    /// One in the process: what is shared is the machine.
    static let shared = Gate(places: max(4, sysconf(Int32(_SC_NPROCESSORS_ONLN)) * 3 / 2))

    private struct State {
        var free: Int
        var first: [CheckedContinuation<Void, Never>] = []
        var others: [CheckedContinuation<Void, Never>] = []
    }
    private let state: Mutex<State>

    private init(places: Int) { state = Mutex(State(free: places)) }

    func enter(goesFirst: Bool) async {
        await withCheckedContinuation { continuation in
            let mayEnter = state.withLock { state in
                if state.free > 0 {
                    state.free -= 1
                    return true
                }
                if goesFirst { state.first.append(continuation) } else { state.others.append(continuation) }
                return false
            }
            if mayEnter { continuation.resume() }
        }
    }
    /// The place is the next one's at once: nobody waits while one is free.
    func leave() {
        let next = state.withLock { state -> CheckedContinuation<Void, Never>? in
            if !state.first.isEmpty { return state.first.removeFirst() }
            if !state.others.isEmpty { return state.others.removeFirst() }
            state.free += 1
            return nil
        }
        next?.resume()
    }
}
