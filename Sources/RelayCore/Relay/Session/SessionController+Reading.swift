/// `Read`: pages of the journal, one request at a time, for whoever's turn it is.
extension SessionController {
    /// No time at all after which a page is given up: its token would be lost, and with it the right to the next. The answer
    /// comes, or the owner or the bus goes, which ends the call.
    private static let untilItLeaves = Duration.seconds(1 << 32)
    /// How many events the publisher's subscriptions get at once: their buffers take no more than the bus's flow is used to.
    private static let sharedLimit: UInt32 = 512
    /// Of a small event in a page, in bytes: a guess of how many there are.
    private static let usualCost = 96
    private static let usualCount = 4_096

    /// A page is wanted, in place of any that was asked for before.
    func read(after: UInt64, _ member: StreamSubscriber, _ stream: FollowedStream) {
        if member.askedAhead == after {
            member.askedAhead = nil
            return
        }
        member.readGeneration += 1
        member.readAfter = after
        askSchemas(stream)
        state.onLoop.reads.ask(member)
        readNext()
    }
    /// Asks for the next page, if there is somebody who has room for one.
    func readNext() {
        guard let connection = state.onLoop.connection, let owner = state.onLoop.owner else { return }
        // Not looked up within, while the state is being changed.
        let streams = state.onLoop.streamsInOrder
        let turn = state.onLoop.reads.next { member in
            let isKnown = streams.contains { $0.schemas != nil && $0.members.contains(member) }
            return isKnown && !member.isPaused && (member.feed?.wantsPage() ?? true)
        }
        guard let turn, let stream = stream(of: turn) else { return }
        let (queueGeneration, readGeneration) = (state.onLoop.reads.generation, turn.readGeneration)
        let limit = turn.search != nil ? 1 : turn.feed == nil ? Self.sharedLimit : 0
        // Times are those of all events: a probe for rare ones would look at all between two of them.
        let request = StreamRead(
            names: turn.search == nil ? stream.asked(turn.names) : [Stream1.allNames],
            after: turn.search?.after ?? turn.readAfter, limit: limit, token: state.onLoop.reads.token)
        let socket = turn.search == nil && !turn.needsMessage ? state.onLoop.replay.socket : nil
        do throws(RelayError) {
            let call = try call(request, stream, owner, socket == nil ? "Read" : "Replay")
            connection.send(call, timeout: Self.untilItLeaves) { [weak self] result in
                self?.answered(result, socket, turn, queueGeneration, readGeneration)
            }
        } catch {
            fail(error)
        }
    }
    /// Nobody has read on: says that the last page has come, which else counts against what a user's relays may have.
    private func prove(_ token: UInt64, _ queueGeneration: Int) {
        guard state.onLoop.reads.generation == queueGeneration, let connection = state.onLoop.connection,
            let owner = state.onLoop.owner, state.onLoop.reads.proves(token)
        else { return }
        // Any interface will do. Behind the last sequence there is nothing, so that the answer is small.
        guard let stream = state.onLoop.streamsInOrder.first(where: { $0.schemas != nil }) else {
            state.onLoop.reads.answered(nil)
            return
        }
        let request = StreamRead(names: [Stream1.allNames], after: .max, limit: 1, token: token)
        do throws(RelayError) {
            connection.send(try call(request, stream, owner), timeout: Self.untilItLeaves) { [weak self] result in
                guard let self, state.onLoop.reads.generation == queueGeneration else { return }
                _ = note(result)
                readNext()
            }
        } catch {
            fail(error)
        }
    }
    private func call(
        _ request: StreamRead, _ stream: FollowedStream, _ owner: String, _ method: String = "Read"
    ) throws(RelayError) -> MethodCall {
        var body = WireWriter()
        try Stream1.write(request, into: &body)
        return MethodCall(
            to: owner, path: stream.path, interface: Stream1.name, member: method,
            signature: try Signature(Stream1.readSignature), body: body.bytes)
    }
    func stream(of member: StreamSubscriber) -> FollowedStream? {
        state.onLoop.streamsInOrder.first { $0.members.contains(member) }
    }
    /// Takes the token out of an answer, which counts even when nobody wants the page any more.
    private func note(_ result: Result<BusReply, RelayError>) -> Result<BusReply, RelayError> {
        guard case .success(let reply) = result else {
            state.onLoop.reads.answered(nil)
            return result
        }
        do throws(RelayError) {
            let page = try reply.read(Stream1.pageSignature) { try PageReader.trailer($0) }
            if state.onLoop.reads.answered((page.token, reply.body.count)) {
                let generation = state.onLoop.reads.generation
                loop.schedule(after: Self.patience) { [weak self] in self?.prove(page.token, generation) }
            }
            return result
        } catch {
            state.onLoop.reads.answered(nil)
            return .failure(error)
        }
    }
    private func answered(
        _ result: Result<BusReply, RelayError>, _ socket: ReceivedDescriptor?, _ member: StreamSubscriber,
        _ queueGeneration: Int, _ readGeneration: Int
    ) {
        // Another owner, or none: the queue is that one's.
        guard state.onLoop.reads.generation == queueGeneration else { return }
        defer {
            releaseReplies()
            readNext()
        }
        var result = result
        if let socket {
            guard let taken = takeReplay(result, socket, member) else {
                if member.readGeneration == readGeneration { state.onLoop.reads.ask(member) }
                return
            }
            result = taken
        } else {
            member.needsMessage = false
        }
        result = note(result)
        if socket == nil, case .success(let reply) = result { openReplay(afterPage: reply.body.count) }
        guard member.readGeneration == readGeneration, let stream = stream(of: member) else { return }
        do throws(RelayError) {
            let reply = try result.get()
            if member.search != nil { try search(reply, member, stream) } else { try take(reply, member, stream) }
        } catch {
            failed(error, member, stream, readGeneration)
        }
    }
    private func failed(
        _ error: RelayError, _ member: StreamSubscriber, _ stream: FollowedStream, _ readGeneration: Int
    ) {
        switch error.code {
        case .notFound:
            if member.search != nil {
                // It keeps nothing: all there is begins now.
                member.search = nil
                run(member.machine.unanswered(), member, stream)
            } else {
                run(member.machine.readRefused(), member, stream)
                member.markCaughtUp()
                settle()
            }
        case .unavailable: askForOwner()
        case .limitsExceeded, .internalFailure, .storageFull, .timedOut:
            // It has no room for another page now, or trouble of its own.
            member.isPaused = true
            state.onLoop.reads.ask(member)
            loop.schedule(after: Self.patience) { [weak self] in
                guard let self, member.readGeneration == readGeneration else { return }
                member.isPaused = false
                readNext()
            }
        default: refused(error, stream)
        }
    }

    // MARK: Pages

    /// Asks for the page behind this one before it is looked at, if there is one and the consumer waits: the service reads meanwhile.
    private func askAhead(_ reply: BusReply, _ member: StreamSubscriber, _ feed: ReplayBuffer) {
        guard feed.isWaiting,
            let page = try? reply.read(Stream1.pageSignature, { try PageReader.trailer($0) }),
            page.through < page.head, page.through > member.readAfter
        else { return }
        member.readGeneration += 1
        (member.readAfter, member.askedAhead) = (page.through, page.through)
        state.onLoop.reads.ask(member)
        readNext()
    }
    /// Nothing is wanted there: the answer no longer counts.
    private func dropAhead(_ member: StreamSubscriber) {
        guard member.askedAhead != nil else { return }
        member.askedAhead = nil
        member.readGeneration += 1
        state.onLoop.reads.withdraw(member)
    }
    private func take(_ reply: BusReply, _ member: StreamSubscriber, _ stream: FollowedStream) throws(RelayError) {
        guard let feed = member.feed else { return try takeShared(reply, member, stream) }
        askAhead(reply, member, feed)
        defer { dropAhead(member) }
        var entries: [ReplayPage.Entry] = []
        entries.reserveCapacity(min(reply.body.count / Self.usualCost, Self.usualCount))
        var epoch: UInt64 = 0
        var through: UInt64 = 0
        // Of the event before, which is most often of the same kind.
        var (event, token): (FollowedStream.Event?, Int32) = (nil, -1)
        do throws(RelayError) {
            let page = try pages(reply) { page in
                (epoch, through) = (page.epoch, min(page.through, page.head))
                if let gap = member.machine.pageBegan(epoch: page.epoch, oldest: page.oldest) {
                    self.tell(gap, member, stream)
                }
            } event: { found, body in
                if event == nil || !found.isLikeLast {
                    let kind = stream.event(named: found.nameBytes, self.sink)
                    (event, token) = (kind, kind.isExcess ? -1 : member.token(of: kind))
                }
                guard let stamp = Self.stamp(found, body, epoch) else { return }
                guard let event, member.machine.pageEvent(event.name, stamp.sequence) else { return }
                if event.isExcess {
                    // What came before it goes before it; the page goes on behind that.
                    feed.append(ReplayPage(page: reply.body, entries, epoch: epoch, through: 0, stream.schemas))
                    entries = []
                    return self.tellExcess(stamp, member, stream)
                }
                guard token >= 0 else { return }
                let start = found.signatureStart
                entries.append(
                    ReplayPage.Entry(
                        token: token, schema: found.schema, signature: start..<start + found.signatureBytes.count,
                        body: found.body))
            }
            feed.append(ReplayPage(page: reply.body, entries, epoch: epoch, through: through, stream.schemas))
            run(member.machine.pageEnded(through: page.through, head: page.head), member, stream)
            member.markCaughtUp()
        } catch {
            // What came before the fault is accounted for.
            feed.append(ReplayPage(page: reply.body, entries, epoch: epoch, through: 0, stream.schemas))
            throw error
        }
    }
    private func takeShared(_ reply: BusReply, _ member: StreamSubscriber, _ stream: FollowedStream) throws(RelayError)
    {
        var epoch: UInt64 = 0
        let page = try pages(reply) { page in
            epoch = page.epoch
            if let gap = member.machine.pageBegan(epoch: page.epoch, oldest: page.oldest) {
                self.tell(gap, member, stream)
            }
        } event: { found, body in
            guard let stamp = Self.stamp(found, body, epoch) else { return }
            let event = stream.event(named: found.nameBytes, self.sink)
            guard member.machine.pageEvent(event.name, stamp.sequence) else { return }
            if event.isExcess { return self.tellExcess(stamp, member, stream) }
            guard event.isWanted else { return }
            let raw = RawEvent(
                schemas: stream.schemas, schema: found.schema, signature: found.signatureBytes,
                body: UnsafeRawBufferPointer(rebasing: body[found.body]), isLive: false)
            self.sink.event(event.token, raw, stamp: stamp.inEpoch(epoch))
        }
        run(member.machine.pageEnded(through: page.through, head: page.head), member, stream)
        settle()
    }
    /// Shows what an answer says, and each event in it with the body of the answer.
    private func pages(
        _ reply: BusReply, began: (StreamPage) -> Void, event: (StreamPage.Event, UnsafeRawBufferPointer) -> Void
    ) throws(RelayError) -> StreamPage {
        // Out of the state, so that what runs meanwhile finds it free.
        var reader = state.onLoop.pages
        defer { state.onLoop.pages = reader }
        do {
            return try reply.body.withUnsafeBytes { body in
                var bytes = WireReader(body)
                return try reader.read(&bytes, began: began) { event($0, body) }
            }
        } catch {
            throw RelayError(
                .schemaMismatch, "\(reply.sender) sent a page that cannot be read: \(error)", cause: error)
        }
    }
    private static func stamp(
        _ event: StreamPage.Event, _ body: UnsafeRawBufferPointer, _ epoch: UInt64
    ) -> Stamp? {
        RawEvent.stamp(of: UnsafeRawBufferPointer(rebasing: body[event.body]), epoch: epoch)
    }

    // MARK: Times

    private func search(_ reply: BusReply, _ member: StreamSubscriber, _ stream: FollowedStream) throws(RelayError) {
        var found: (sequence: UInt64, publishedAt: Timestamp)?
        let page = try pages(reply) { _ in
        } event: { event, body in
            if found == nil, let stamp = Self.stamp(event, body, 0) { found = (stamp.sequence, stamp.publishedAt) }
        }
        let place = member.search?.take(event: found, oldest: page.oldest, through: page.through, head: page.head)
        guard let place else {
            member.readGeneration += 1
            return state.onLoop.reads.ask(member)
        }
        member.search = nil
        // What came meanwhile is in the journal, too.
        member.machine = StreamMachine(from: .at(place), isDurable: true)
        begin(member)
        run(member.machine.want(member.names), member, stream)
    }
}
