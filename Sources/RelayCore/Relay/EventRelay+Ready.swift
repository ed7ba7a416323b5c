extension EventRelay {
    /// Waits until the relay is in step with its service, for programs that cannot continue without the service. It
    /// activates the relay if that has not been done.
    ///
    /// ```swift
    /// try await relay.ready(within: .seconds(5))
    /// ```
    ///
    /// Other programs need not wait: an activated relay finds its service whenever the service starts.
    ///
    /// - Cancellation: throws `.cancelled`.
    /// - Parameter limit: how long to wait.
    /// - Throws: `.timedOut` if that takes longer; the message names what the relay still waits for: the bus, an owner
    ///   of the name, or answers of the service. If the relay has ended, the reason, for example `.notPermitted`.
    public func ready(within limit: Duration = .seconds(25)) async throws {
        activate()
        let (service, states, core) = (service, states, follower.core)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                for await state in states {
                    switch state {
                    case .active: return
                    case .invalidated(let error): throw error
                    default: break
                    }
                }
                if Task.isCancelled {
                    throw RelayError(.cancelled, "the task was cancelled while it waited for \(service)")
                }
                throw RelayError(.unavailable, "the relay to \(service) has ended")
            }
            group.addTask {
                do { try await Task.sleep(for: min(limit, .longestSleep)) } catch {
                    throw RelayError(.cancelled, "the task was cancelled while it waited for \(service)")
                }
                let awaited = await core.awaited(within: .seconds(1))
                throw RelayError(
                    .timedOut, "the relay was not in step with \(service) within \(limit): \(awaited)")
            }
            defer { group.cancelAll() }
            try await group.next()
        }
    }
}
