/// Waits for a condition that other threads bring about: `#expect(await eventually { counter.value == 3 })`.
///
/// Looks again and again, so that a test takes as long as it has to and no longer: a generous limit costs nothing when the
/// condition comes. Returns false when the time is over, or at once when the task is cancelled.
/// - Isolation: the condition runs where the caller is.
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
