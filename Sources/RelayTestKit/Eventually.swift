/// Waits for a condition that other threads bring about.
///
/// ```swift
/// #expect(await eventually { counter.value == 3 })
/// ```
///
/// It checks again and again, so that a test takes as long as it must and no longer: a generous limit costs nothing
/// when the condition comes.
///
/// - Isolation: the condition runs where the caller is.
/// - Parameter limit: how long to wait.
/// - Parameter condition: what to wait for.
/// - Returns: false if the time is over, or at once if the task is cancelled.
/// - Throws: what `condition` throws.
public nonisolated(nonsending) func eventually(
    within limit: Duration = .seconds(300), _ condition: () async throws -> Bool
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
