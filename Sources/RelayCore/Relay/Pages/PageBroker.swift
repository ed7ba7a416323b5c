import Synchronization

/// `Read`: pages of the journal, one request at a time for a service, for the member whose turn it is.
final class PageBroker: @unchecked Sendable {  // In a turn of the loop only.
    private var queue = ReadQueue<StreamSubscriber>()
    var line = ReplayLine.unused
    /// Pages that came through a socket, and not through the bus. Read on any thread.
    let replayedPages = Atomic<Int>(0)

    /// Another owner, or none: what was asked of this one gets no answer that counts.
    func forgetOwner() {
        queue.forgetOwner()
        line = .unused
    }
    /// Counts the owners; see `ReadQueue`.
    var generation: Int { queue.generation }
    /// A request is under way.
    var isBusy: Bool { queue.isBusy }

    // MARK: Requests

    /// A member wants a page.
    func ask(_ member: StreamSubscriber, _ session: SessionController) {
        queue.ask(member)
        readNext(session)
    }
    /// The same, to be sent by the next `readNext`.
    func lineUp(_ member: StreamSubscriber) { queue.ask(member) }
    func withdraw(_ member: StreamSubscriber) { queue.withdraw(member) }
    /// Asks for the next page, if a member waits that has room for one.
    func readNext(_ session: SessionController) {
        // While the socket is on its way, no further page goes through the bus: the answer calls this again.
        guard session.hasOwner, !line.isAsked else { return }
        // Not looked up within, while the queue is being changed.
        let streams = session.streams
        let turn = queue.next { member in
            let isKnown = streams.contains { $0.schemas != nil && $0.members.contains(member) }
            return isKnown && !member.isPaused && (member.feed?.wantsPage() ?? true)
        }
        guard let turn, let stream = session.stream(of: turn) else { return }
        let (queueGeneration, readGeneration) = (queue.generation, turn.readGeneration)
        let socket = turn.search == nil && !turn.needsMessage ? line.socket : nil
        let request = stream.request(of: turn)
        send(request, socket == nil ? "Read" : "Replay", stream, session) { [self] session, result in
            answered(result, socket, turn, queueGeneration, readGeneration, session)
        }
    }
    private func send(
        _ request: StreamRead, _ method: String, _ stream: StreamController, _ session: SessionController,
        _ completion: @escaping @Sendable (SessionController, Result<BusReply, RelayError>) -> Void
    ) {
        do throws(RelayError) {
            var body = WireWriter()
            try Stream1.write(request, into: &body)
            session.ask(
                method, at: stream.path, try Signature(Stream1.readSignature), body: body.bytes,
                timeout: session.timing.read
            ) { session, result in
                if let session { completion(session, result) }
            }
        } catch {
            session.fail(error)
        }
    }

    // MARK: Answers

    private func answered(
        _ result: Result<BusReply, RelayError>, _ socket: ReceivedDescriptor?, _ member: StreamSubscriber,
        _ queueGeneration: Int, _ readGeneration: Int, _ session: SessionController
    ) {
        // Another owner, or none: the queue is that one's.
        guard queue.generation == queueGeneration else { return }
        defer {
            session.calls.releaseReplies(session)
            readNext(session)
        }
        var result = result
        if let socket {
            guard let page = replayed(result, socket, member) else {
                queue.answered()
                if member.readGeneration == readGeneration { queue.ask(member) }
                return
            }
            result = page
        } else {
            member.needsMessage = false
        }
        queue.answered()
        if socket == nil, case .success(let reply) = result { openLine(afterPage: reply.body.count, session) }
        guard member.readGeneration == readGeneration, let stream = session.stream(of: member) else { return }
        stream.pageArrived(result, member, session)
    }
}
