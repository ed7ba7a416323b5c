import Dispatch

/// What is delivered at one place, one thing after the other: by a task of an actor, of the threads for handlers or of an
/// executor, by jobs of a queue or a pollable target, or at once.
package protocol PlacedDelivery: AnyObject, Sendable {
    /// Nil: on the thread that brings the news.
    var place: DeliveryPlace? { get }
    /// How much a task delivers before others at the place get their turn.
    var taskLimit: Int { get }
    /// The same for a job.
    var jobLimit: Int { get }

    /// For a task. Returns when there is something; false: nothing comes any more.
    func waitForNews(isolation: isolated (any Actor)?) async -> Bool
    /// For a task. Delivers what comes next, at most so much, and returns how much; 0: nothing is there.
    func deliver(most limit: Int, isolation: isolated (any Actor)?) async -> Int
    /// The same for a job, which waits for nothing: handlers are synchronous there. With 0 `schedule` is called when
    /// there is something.
    func deliver(most limit: Int) -> Int
    /// After `jobLimit`: whether another job is needed. If not, `schedule` is called when there is something.
    func needsJob() -> Bool
    /// Everything that is here was delivered, or nothing comes any more.
    func tookAll()
    /// The actor is gone.
    func losePlace()
}

extension PlacedDelivery {
    /// Starts the task of an actor or of the threads for handlers. Elsewhere jobs are scheduled as they are needed.
    ///
    /// Detached: it must not have the priority and the task-local values of the code that subscribes.
    package func start() {
        switch place {
        case .threads?, .executor?, .actor?, .weakActor?:
            Task.detached(executorPreference: place?.taskExecutor) { await self.serve() }
        case .queue?, .pollable?, nil: break
        }
    }
    private func serve() async {
        switch place {
        case .threads?, .executor?: await serve(isolation: nil)
        case .actor(let actor)?: await serve(isolation: actor)
        case .weakActor(let reference)?:
            // Waits off the actor, so that it can go meanwhile.
            while await waitForNews(isolation: nil) {
                if let actor = reference.actor { await deliverAll(isolation: actor) } else { losePlace() }
            }
        case .queue?, .pollable?, nil: return
        }
        tookAll()
    }
    private func serve(isolation: isolated (any Actor)?) async {
        while await waitForNews(isolation: isolation) { await deliverAll(isolation: isolation) }
    }
    private func deliverAll(isolation: isolated (any Actor)?) async {
        var left = taskLimit
        while case let count = await deliver(most: left, isolation: isolation), count > 0 {
            left -= count
            if left > 0 { continue }
            left = taskLimit
            await Task.yield()
        }
    }
    /// Has a job run where this is delivered.
    package func schedule() {
        switch place {
        case .queue(let queue)?: queue.async { self.drain() }
        case .pollable(let target)?: target.enqueue(self)
        case nil: drain()
        case .threads?, .executor?, .actor?, .weakActor?: break
        }
    }
    /// A job.
    func drain() {
        var left = jobLimit
        while left > 0 {
            let count = deliver(most: left)
            if count == 0 { return tookAll() }
            left -= count
        }
        if needsJob() { schedule() }
    }
}
