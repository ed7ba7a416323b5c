import RelayWire

/// Pages of the journal: what is missing of a durable stream, and where a time is in it.
extension StreamController {
    /// How many events the publisher's subscriptions get at once. Their buffers take no more than what a bus brings.
    private static let sharedLimit: UInt32 = 512
    /// Of a small event in a page, in bytes: a guess of how many there are.
    private static let usualCost = 96
    private static let usualCount = 4_096

    // MARK: Requests

    /// A page is wanted, in place of any that was asked for before.
    func read(after: UInt64, _ member: StreamSubscriber) {
        if member.askedAhead == after {
            member.askedAhead = nil
            return
        }
        member.readGeneration += 1
        member.readAfter = after
        askSchemas()
        pages.ask(member)
    }
    /// Looks for the place to begin at, once there is an owner to ask.
    func seek(_ member: StreamSubscriber) {
        if owner.name != nil { read(after: 0, member) }
    }
    /// The page that a member waits for.
    func request(of member: StreamSubscriber) -> StreamRead {
        guard let search = member.search else {
            let limit = member.feed == nil ? Self.sharedLimit : 0
            return StreamRead(names: events.asked(member.names), after: member.readAfter, limit: limit)
        }
        // Times are those of all events: a probe for rare ones would look at all between two of them.
        return StreamRead(names: [Stream1.allNames], after: search.after, limit: 1)
    }

    // MARK: Answers

    /// A member's request was answered: the latest one.
    func pageArrived(_ result: Result<BusReply, RelayError>, _ member: StreamSubscriber) {
        do throws(RelayError) {
            let reply = try result.get()
            counts.pages.increment()
            if member.search != nil {
                try search(reply, member)
            } else if let feed = member.feed {
                try take(reply, member, feed)
            } else {
                try takeShared(reply, member)
            }
        } catch {
            readFailed(error, member)
        }
    }
    /// Shows a page's head, and each event in it with the body of the answer.
    private func read(
        _ reply: BusReply, began: (StreamPage) -> Void, event: (StreamPage.Event, UnsafeRawBufferPointer) -> Void
    ) throws(RelayError) -> StreamPage {
        // In a variable: what runs meanwhile finds it free.
        var reader = pageReader
        defer { pageReader = reader }
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
    private func readFailed(_ error: RelayError, _ member: StreamSubscriber) {
        switch error.code {
        case .notFound:
            if member.search != nil {
                // It keeps nothing: all there is begins now.
                member.search = nil
                run(member.machine.unanswered(), member)
            } else {
                run(member.machine.readRefused(), member)
                member.markCaughtUp()
                observer?.streamSettled()
            }
        case .unavailable: owner.askForOwner()
        case .limitsExceeded, .internalFailure, .storageFull, .timedOut:
            // It has no room for another page now, or trouble of its own.
            member.isPaused = true
            pages.lineUp(member)
            let generation = member.readGeneration
            owner.loop.schedule(after: owner.timing.retry) { [pages] in
                guard member.readGeneration == generation else { return }
                member.isPaused = false
                pages.readNext()
            }
        default: refused(error)
        }
    }
    /// Requests the page after this one before this one is read, if there is one and the consumer waits: the service
    /// reads meanwhile.
    private func askAhead(_ reply: BusReply, _ member: StreamSubscriber, _ feed: ReplayBuffer) {
        guard feed.isWaiting,
            let page = try? reply.read(Stream1.pageSignature, { try PageReader.trailer($0) }),
            page.through < page.head, page.through > member.readAfter
        else { return }
        member.readGeneration += 1
        (member.readAfter, member.askedAhead) = (page.through, page.through)
        pages.ask(member)
    }
    /// Nothing is wanted there: the answer no longer counts.
    private func dropAhead(_ member: StreamSubscriber) {
        guard member.askedAhead != nil else { return }
        member.askedAhead = nil
        member.readGeneration += 1
        pages.withdraw(member)
    }
    private func take(
        _ reply: BusReply, _ member: StreamSubscriber, _ feed: ReplayBuffer
    ) throws(RelayError) {
        askAhead(reply, member, feed)
        defer { dropAhead(member) }
        // One for all that is made of this page: its kinds do not keep their formats.
        let schemas = schemas
        var part = PagePart(reply.body, schemas)
        part.entries.reserveCapacity(min(reply.body.count / Self.usualCost, Self.usualCount))
        var epoch: UInt64 = 0
        var through: UInt64 = 0
        var (hasGaps, last) = (false, UInt64(0))
        // Of the event before, which is most often of the same kind.
        var (event, token): (StreamEvent?, Int32) = (nil, -1)
        do throws(RelayError) {
            let page = try read(reply) { page in
                (epoch, through, hasGaps) = (page.epoch, min(page.through, page.head), !page.gaps.isEmpty)
                run(member.machine.pageBegan(epoch: page.epoch, oldest: page.oldest, gaps: page.gaps), member)
            } event: { found, body in
                if hasGaps, let stamp = Self.stamp(found, body, epoch) {
                    last = stamp.sequence
                    let action = member.machine.pageGaps(before: stamp.sequence)
                    if !action.output.isEmpty { part.end(epoch, through: 0, into: feed) }
                    run(action, member)
                }
                if part.kinds.isEmpty || !found.isLikeLast {
                    let kind = events.event(named: found.nameBytes, for: members)
                    (event, token) = (kind, kind.isExcess ? -1 : member.token(of: kind))
                    let (start, count) = (found.signatureStart, found.signatureBytes.count)
                    part.kinds.append(
                        KeptEvents.Kind(token, schema: found.schema, of: schemas, signature: start..<start + count))
                }
                guard let stamp = Self.stamp(found, body, epoch) else { return }
                guard let event, member.machine.pageEvent(event.name, stamp.sequence) else { return }
                if event.isExcess {
                    part.end(epoch, through: 0, into: feed)
                    return reportExcess(stamp, member)
                }
                guard token >= 0 else { return }
                counts.read.increment()
                part.entries.append(KeptEvents.Entry(kind: Int32(part.kinds.count - 1), body: found.body))
            }
            // A gap behind the last event is not handled with that.
            if hasGaps, page.gaps.last?.upperBound ?? 0 > last { through = 0 }
            part.end(epoch, through: through, into: feed)
            try pageEnded(page, isEmpty: event == nil, member)
            member.markCaughtUp()
        } catch {
            // What came before the fault is accounted for.
            part.end(epoch, through: 0, into: feed)
            throw error
        }
    }
    private func takeShared(_ reply: BusReply, _ member: StreamSubscriber) throws(RelayError) {
        var (epoch, isEmpty, hasGaps): (UInt64, Bool, Bool) = (0, true, false)
        let page = try read(reply) { page in
            (epoch, hasGaps) = (page.epoch, !page.gaps.isEmpty)
            run(member.machine.pageBegan(epoch: page.epoch, oldest: page.oldest, gaps: page.gaps), member)
        } event: { found, body in
            isEmpty = false
            guard let stamp = Self.stamp(found, body, epoch) else { return }
            if hasGaps { run(member.machine.pageGaps(before: stamp.sequence), member) }
            let event = events.event(named: found.nameBytes, for: members)
            guard member.machine.pageEvent(event.name, stamp.sequence) else { return }
            if event.isExcess { return reportExcess(stamp, member) }
            guard event.isWanted else { return }
            let format = schemas?.format(found.schema)
            let raw = RawEvent(
                .journal, stamp, format.map { .passUnretained($0) },
                unknown: schemas != nil && format == nil ? found.schema : nil, signature: found.signatureBytes,
                body: UnsafeRawBufferPointer(rebasing: body[found.body]))
            counts.count(raw)
            sink.event(event.token, raw)
        }
        try pageEnded(page, isEmpty: isEmpty, member)
        observer?.streamSettled()
    }
    /// Pages without an event get on, too, where the wanted ones are rare. Not for ever: a service that has nothing else
    /// would be read until its sequences are at their end.
    private func pageEnded(_ page: StreamPage, isEmpty: Bool, _ member: StreamSubscriber) throws(RelayError) {
        member.emptyPages = isEmpty && page.through < page.head ? member.emptyPages + 1 : 0
        if member.emptyPages > Self.mostEmptyPages {
            member.emptyPages = 0
            throw RelayError(.schemaMismatch, "\(Self.mostEmptyPages) pages in a row had no event")
        }
        run(member.machine.pageEnded(through: page.through, head: page.head), member)
    }
    /// Of which each covers 65,536 events at a service of this library.
    private static let mostEmptyPages = 65_536
    @inline(__always) private static func stamp(
        _ event: StreamPage.Event, _ body: UnsafeRawBufferPointer, _ epoch: UInt64
    ) -> Stamp? {
        Stamp(endOf: UnsafeRawBufferPointer(rebasing: body[event.body]), epoch: epoch)
    }

    // MARK: Times

    private func search(_ reply: BusReply, _ member: StreamSubscriber) throws(RelayError) {
        var found: (sequence: UInt64, publishedAt: Timestamp)?
        let page = try read(reply) { _ in
        } event: { event, body in
            if found == nil, let stamp = Self.stamp(event, body, 0) { found = (stamp.sequence, stamp.publishedAt) }
        }
        let place = try member.search?.take(event: found, oldest: page.oldest, through: page.through, head: page.head)
        guard let place else {
            member.readGeneration += 1
            return pages.lineUp(member)
        }
        member.search = nil
        // What came meanwhile is in the journal, too.
        member.machine = StreamSubscriber.Machine(from: .at(place), isDurable: true)
        begin(member)
        run(member.machine.want(member.names), member)
    }
}

/// What of a page goes to its subscriber together: what comes before something else goes before it, and the page goes on
/// behind that.
private struct PagePart: ~Copyable {
    var entries: [KeptEvents.Entry] = []
    var kinds: [KeptEvents.Kind] = []
    private let page: [UInt8]
    private let schemas: StreamSchemas?

    init(_ page: [UInt8], _ schemas: StreamSchemas?) { (self.page, self.schemas) = (page, schemas) }

    mutating func end(_ epoch: UInt64, through: UInt64, into feed: ReplayBuffer) {
        feed.append(KeptEvents(page: page, entries, kinds, epoch: epoch, through: through, schemas))
        // What is behind has kinds of its own: a copy for each part would grow with all parts before it.
        (entries, kinds) = ([], [])
    }
}
