extension Task where Failure == Never {
    /// What the task returns; nil if that takes longer. It goes on then.
    ///
    /// The waiting is done in tasks of its own: the one that asks may be cancelled, and ends a program.
    package func value(until deadline: ContinuousClock.Instant) async -> Success? {
        let (values, value) = AsyncStream.makeStream(of: Success.self)
        Task<Void, Never>.detached(executorPreference: HandlerThreads.own) {
            value.yield(await self.value)
            value.finish()
        }
        let deadline = min(deadline, .now + .longestSleep)
        let timer = Task<Void, Never>.detached(executorPreference: HandlerThreads.own) {
            do { try await Task<Never, Never>.sleep(until: deadline, clock: .continuous) } catch { return }
            value.finish()
        }
        defer { timer.cancel() }
        return await Task<Success?, Never>.detached(executorPreference: HandlerThreads.own) {
            for await value in values { return value }
            return nil
        }.value
    }
}

extension Duration {
    /// A hundred years. Swift's clocks end the process where the seconds of a deadline do not fit.
    package static let longestSleep = Duration.seconds(3_155_760_000)
}
