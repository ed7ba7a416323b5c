import Glibc

/// Waits for a condition that other threads make true.
///
/// ```swift
/// #expect(await eventually { counter.value == 3 })
/// ```
///
/// It checks the condition repeatedly, so a test takes no longer than necessary. A generous limit costs nothing if the
/// condition becomes true.
///
/// - Isolation: the condition runs on the caller's actor.
/// - Parameter limit: how long to wait: 30 seconds, or as many as `RELAY_TEST_LIMIT` says, unless given.
/// - Parameter condition: what to wait for.
/// - Returns: whether the condition became true. False after the limit, or at once if the task is cancelled.
/// - Throws: what `condition` throws.
public nonisolated(nonsending) func eventually(
    within limit: Duration = .testLimit, _ condition: () async throws -> Bool
) async rethrows -> Bool {
    let deadline = ContinuousClock.now + limit
    var pause = Duration.microseconds(50)
    while true {
        if try await condition() { return true }
        if Task.isCancelled || ContinuousClock.now >= deadline { return try await condition() }
        try? await Task.sleep(for: pause)
        pause = min(pause * 2, .milliseconds(10))
    }
}

extension Duration {
    /// How long tests wait for what does not come: 30 seconds, or as many as the environment's `RELAY_TEST_LIMIT` says.
    public static let testLimit: Duration = {
        let given = getenv("RELAY_TEST_LIMIT").flatMap { Int(String(cString: $0)) }
        return .seconds(max(1, given ?? 30))
    }()
}
