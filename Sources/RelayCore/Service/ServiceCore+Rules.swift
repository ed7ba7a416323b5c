import Synchronization

/// Which signals of others the bus passes to a service.
extension ServiceCore {
    /// Has the bus pass them. The connection requests each rule until the bus answers: so the wait has an end here.
    ///
    /// Throws `Unavailable` if the bus has not answered in time, `Cancelled`.
    func addRules(_ connection: BusConnection) async throws {
        let needsPolkit = interfaces.contains { $0.requirements.contains(where: \.needsPolkit) }
        let isLate = Atomic<Bool>(false)
        let timer = loop.schedule(after: timing.matchRules) {
            isLate.store(true, ordering: .releasing)
            connection.close()
        }
        defer { loop.cancel(timer: timer) }
        do {
            try await withTaskCancellationHandler {
                for rule in [MatchRule.departures] + (needsPolkit ? [Polkit.changes, .owner(of: Polkit.name)] : []) {
                    try await withCheckedThrowingContinuation { (ready: CheckedContinuation<Void, any Error>) in
                        loop.execute { connection.addMatch(rule) { ready.resume(with: $0.map { _ in () }) } }
                    }
                }
            } onCancel: {
                connection.close()
            }
        } catch {
            if Task.isCancelled { throw RelayError(.cancelled, "the task was cancelled while \(name) started") }
            if !isLate.load(ordering: .acquiring) { throw error }
            throw RelayError(
                .unavailable,
                "\(name) cannot start: \(bus) answered Hello, and no AddMatch within \(timing.matchRules): see whether the bus's "
                    + "process is stopped or overloaded, and start again", cause: error)
        }
    }
}
