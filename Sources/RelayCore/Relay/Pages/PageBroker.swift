import Synchronization
import RelayWire

/// `Read`: pages of the journal, one request at a time for a service, for the member whose turn it is.
///
/// - Isolation: in a turn of the loop.
final class PageBroker: Sendable {
    private let queue: LoopBound<ReadQueue<StreamSubscriber>>
    let line: LoopBound<ReplayLine>
    let owner: ServiceOwner
    /// Pages that came through a socket, and not through the bus. Read on any thread.
    let replayedPages = Atomic<Int>(0)

    init(_ owner: ServiceOwner) {
        self.owner = owner
        (queue, line) = (LoopBound(ReadQueue(), on: owner.loop), LoopBound(.unused, on: owner.loop))
    }
    /// Another owner, or none: what was asked of this one gets no answer that counts.
    func forgetOwner() {
        queue.onLoop.forgetOwner()
        line.onLoop = .unused
    }
    /// Counts the owners; see `ReadQueue`.
    var generation: Int { queue.onLoop.generation }

    // MARK: Requests

    /// A member wants a page.
    func ask(_ member: StreamSubscriber) {
        lineUp(member)
        readNext()
    }
    /// The same, to be sent by the next `readNext`.
    func lineUp(_ member: StreamSubscriber) { queue.onLoop.ask(member) }
    func withdraw(_ member: StreamSubscriber) { queue.onLoop.withdraw(member) }
    /// Asks for the next page, if a member waits that has room for one.
    func readNext() {
        // While the socket is on its way, no further page goes through the bus: the answer calls this again.
        guard owner.isPresent, !line.onLoop.isAsked else { return }
        let turn = queue.onLoop.next { member in
            member.stream?.schemas != nil && !member.isPaused && (member.feed?.wantsPage() ?? true)
        }
        guard let turn, let stream = turn.stream else { return }
        let (queueGeneration, readGeneration) = (generation, turn.readGeneration)
        let socket = turn.search == nil && !turn.needsMessage ? line.onLoop.socket : nil
        do throws(RelayError) {
            var body = WireWriter()
            try Stream1.write(stream.request(of: turn), into: &body)
            owner.ask(
                socket == nil ? "Read" : "Replay", at: stream.path, try Signature(Stream1.readSignature),
                body: body.bytes, timeout: owner.timing.read
            ) { [self] result in
                // Another owner, or none: the queue is that one's.
                guard generation == queueGeneration else { return }
                answered(result, socket, turn, readGeneration, stream)
                stream.observer?.streamAdvanced()
                readNext()
            }
        } catch {
            owner.fail(error)
        }
    }

    // MARK: Answers

    private func answered(
        _ result: Result<BusReply, RelayError>, _ socket: PageSocket?, _ member: StreamSubscriber,
        _ readGeneration: Int, _ stream: StreamController
    ) {
        var result = result
        if let socket {
            guard let page = replayed(result, socket, member) else {
                queue.onLoop.answered()
                if member.readGeneration == readGeneration { lineUp(member) }
                return
            }
            result = page
        } else {
            member.needsMessage = false
        }
        queue.onLoop.answered()
        if socket == nil, case .success(let reply) = result { openLine(afterPage: reply.body.count, stream) }
        guard member.readGeneration == readGeneration, member.stream != nil else { return }
        stream.pageArrived(result, member)
    }
}
