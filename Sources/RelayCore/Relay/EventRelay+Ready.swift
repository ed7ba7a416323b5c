import Synchronization

extension EventRelay {
    /// Waits until the relay is in step with its service, for programs that cannot continue without the service.
    ///
    /// ```swift
    /// relay.activate()
    /// try await relay.ready(within: .seconds(5))
    /// ```
    ///
    /// Other programs need not wait: an activated relay finds its service whenever the service starts.
    ///
    /// - Cancellation: throws `.cancelled`.
    /// - Parameter limit: how long to wait.
    /// - Throws: `.timedOut` if there is no service in time. If the relay has ended, the reason, for example
    ///   `.notPermitted`.
    public func ready(within limit: Duration = .seconds(25)) async throws {
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
                do { try await Task.sleep(for: limit) } catch {
                    throw RelayError(.cancelled, "the task was cancelled while it waited for \(service)")
                }
                // Without a bus there is no use in starting the service.
                let remedy = core.busFailure.withLock { $0 }?.message ?? "start it, or wait longer"
                throw RelayError(.timedOut, "\(service) was not there within \(limit): \(remedy)")
            }
            defer { group.cancelAll() }
            try await group.next()
        }
    }
}
