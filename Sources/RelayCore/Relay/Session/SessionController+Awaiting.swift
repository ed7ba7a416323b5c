import Synchronization

/// What a relay waits for that is not in step with its service.
extension SessionController {
    /// In words, with what to do about it; waits for no turn longer than `limit`.
    func awaited(within limit: Duration) async -> String {
        let (answers, answer) = AsyncStream.makeStream(of: String.self)
        loop.execute { [self] in answer.yield(awaited) }
        let late = Task {
            try? await Task.sleep(for: limit)
            answer.finish()
        }
        defer { late.cancel() }
        for await words in answers { return words }
        return "a handler of the relay has not returned: an .immediate one, and a sink, must not wait"
    }
    /// In a turn.
    private var awaited: String {
        if owner.connection == nil {
            // Without a bus there is no use in starting the service.
            return busFailure.withLock { $0 }?.message ?? "\(bus) has not answered yet: wait longer"
        }
        let session = owner.state.onLoop.session
        if let name = session.owner {
            let lacking = streams.all.filter { !$0.isSettled }.map { "\($0.interface) (\($0.awaited))" }
            if lacking.isEmpty { return "it is in step with \(name) now: wait longer" }
            let list = lacking.sorted().joined(separator: ", ")
            return
                "\(name) has the name, and its answers are due for \(list): wait longer, or see whether it is stopped "
                + "or busy"
        }
        if let name = session.candidate {
            return "\(name) has the name, and the bus has not reported yet who that is: wait longer"
        }
        return session.isOwnershipKnown
            ? "nobody has the name: start it, or wait longer"
            : "the bus has not reported yet who has the name: wait longer"
    }
}

extension StreamController {
    /// What is due of the owner before the stream is in step with it.
    fileprivate var awaited: String {
        if inlets.isOpening { return "OpenRing" }
        return members.contains { $0.machine.isReading } ? "pages of its journal" : "Attach"
    }
}
