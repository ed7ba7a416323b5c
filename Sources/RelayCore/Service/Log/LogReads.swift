import Synchronization
import RelayWire

/// `Read`: pages of what the log keeps; `Replay`, which writes them into a socket of the peer's; and `Runs`, its runs.
/// And the runs that an `Attach` names.
final class LogReads: Sendable {
    private struct State {
        var sockets = ReplaySockets()
        var runs: RunLookUps
    }
    /// Bytes of names, signatures and bodies in a page.
    private static let pageLength = 256 << 10
    /// What is written into a socket: what is sure to have room there.
    private static let longestWritten = 320 << 10
    /// A message's limit, less room for its header.
    private static let longestAnswer = WireLimits.defaultMessageLength - 1_024
    private let state: LoopBound<State>
    /// Memory for a page that was sent: the next one need not be cleared.
    private let pageMemory = Mutex<WireWriter?>(nil)
    /// What is with the log.
    private let open = Atomic<Int>(0)
    private let directory: PeerDirectory
    private let replies: ReplySender
    private let ledger: PeerLedger
    private let loop: BusLoop

    init(
        _ directory: PeerDirectory, _ replies: ReplySender, _ ledger: PeerLedger, _ loop: BusLoop
    ) {
        (self.directory, self.replies, self.ledger) = (directory, replies, ledger)
        self.loop = loop
        state = LoopBound(State(runs: RunLookUps(ledger)), on: loop)
    }
    var openCount: Int { open.load(ordering: .acquiring) }
    /// A peer has left, or may not read any more.
    func depart(_ peer: String) { state.onLoop.sockets.depart(peer) }

    // MARK: Runs

    /// Has the log look for a run, for a call. Answers an error by itself; else calls `completion` on the loop's thread.
    ///
    /// The look-up is of the disk, for which the loop's thread must not wait.
    func find(
        _ question: RunQuestion, in interface: String, _ log: ExportedLog, for call: IncomingCall,
        completion: @escaping @Sendable (CommonRun?) -> Void
    ) {
        let entry = RunLookUps.Entry(
            peer: call.sender, bytes: call.body.count, interface: interface, question: question)
        let verdict = state.onLoop.runs.enqueue(entry) { [weak self] result in
            switch result {
            case .success(let common): completion(common)
            // Where the histories part is not known: an answer would claim that they have nothing in common.
            case .failure(let error):
                self?.fail(call, of: interface, error, as: .unavailable)
            }
        }
        switch verdict {
        case .begin(let job): begin(job, log)
        case .wait: break
        case .refused(let reason): replies.refuse(call, .limitsExceeded, reason)
        }
    }
    private func begin(_ job: RunLookUps.Job, _ log: ExportedLog) {
        open.add(1, ordering: .relaxed)
        log.storage.find(job.entry.question, in: job.entry.interface) { [weak self] result in
            guard let self else { return }
            loop.execute { [self] in
                open.subtract(1, ordering: .releasing)
                let next = state.onLoop.runs.end(job.entry.peer)
                job.completion(result)
                if let next { begin(next, log) }
            }
        }
    }

    // MARK: Pages

    func openReplay(_ call: IncomingCall) {
        guard call.wantsReply else { return }
        directory.credentials(of: call, bytes: 0) { [weak self] result in
            guard let self else { return }
            do throws(RelayError) {
                let credentials = try result.get()
                guard let descriptor = call.descriptors.first else {
                    throw RelayError(.invalidArgument, "OpenReplay came without its socket")
                }
                let socket = try ReplaySocket(descriptor)
                // Unknown: it has left, and will not be seen to leave again.
                guard credentials.userID != nil else {
                    throw RelayError(.unavailable, "OpenReplay needs a peer whose user the bus reports")
                }
                do throws(PeerLedger.Refusal) {
                    try state.onLoop.sockets.add(socket, of: call.sender, ledger)
                } catch { throw RelayError(.limitsExceeded, "\(error.message); or use Read") }
                replies.reply(to: call)
            } catch {
                replies.refuse(call, error.code, error.message)
            }
        }
    }
    func replay(_ call: IncomingCall, _ interface: ExportedInterface) {
        guard let socket = state.onLoop.sockets.socket(of: call.sender) else {
            let text = "there is no socket for a replay, or it was full: OpenReplay comes first"
            return replies.fail(call, .conflict, text)
        }
        read(call, interface, into: socket)
    }
    func read(_ call: IncomingCall, _ interface: ExportedInterface, into socket: ReplaySocket? = nil) {
        guard call.wantsReply else { return }
        guard let log = interface.log else {
            return replies.fail(call, .notFound, "\(interface.name) is volatile: nothing of it can be read again")
        }
        guard let request = call.read({ try Stream1.readRead(&$0) }),
            1...Stream1.maximumNames ~= request.names.count
        else {
            let text = "Read takes 1 to \(Stream1.maximumNames) names; '\(Stream1.allNames)' stands for all"
            return replies.fail(call, ErrorNames.invalidArgs, text)
        }
        if let name = interface.unknown(request.names) {
            return replies.fail(call, .notFound, "\(interface.name) has no event '\(name)'")
        }
        let wanted = LogRequest(
            interface: interface.name, names: request.names.contains(Stream1.allNames) ? nil : Set(request.names),
            after: request.after, limit: request.limit == 0 ? Int(Int32.max) : Int(request.limit),
            byteLimit: Self.pageLength)
        admit(call) { [weak self] charge in
            self?.open.add(1, ordering: .relaxed)
            log.storage.read(wanted) { [weak self] result in
                // On a thread of the log's: the loop's has others to serve.
                self?.answer(call, interface, log, result, charge, socket)
                self?.open.subtract(1, ordering: .releasing)
            }
        }
    }
    /// All runs of an interface's log, page by page.
    func runs(_ call: IncomingCall, _ interface: ExportedInterface) {
        guard call.wantsReply else { return }
        guard let log = interface.log else {
            return replies.fail(call, .notFound, "\(interface.name) is volatile: each of its runs is for itself")
        }
        guard let (epoch, limit) = call.read({ (try $0.uint64(), try $0.uint32()) }) else {
            return replies.fail(call, ErrorNames.invalidArgs, "Runs takes a run's epoch, or 0, and a limit")
        }
        let most = Self.pageLength / 16
        admit(call) { [weak self] charge in
            self?.open.add(1, ordering: .relaxed)
            log.storage.runs(
                after: epoch, atMost: limit == 0 ? most : min(most, Int(limit)), in: interface.name
            ) { [weak self] result in
                self?.answer(call, interface, result, after: epoch, charge)
                self?.open.subtract(1, ordering: .releasing)
            }
        }
    }
    private func answer(
        _ call: IncomingCall, _ interface: ExportedInterface, _ result: Result<[StreamRun]?, RelayError>,
        after epoch: UInt64, _ charge: PeerLedger.Charge
    ) {
        do throws(RelayError) {
            guard let runs = try result.get() else {
                endReading(call)
                return replies.fail(
                    call, .notFound, "the journal of \(interface.name) has no run \(epoch): begin again, with 0")
            }
            var body = WireWriter(capacity: 16 + runs.count * 16)
            try Stream1.write(runs, into: &body)
            do throws(PeerLedger.Refusal) { try charge.change(to: body.count) } catch { throw error.error }
            deliver(call, Stream1.runPageSignature, body.bytes, charge)
        } catch {
            endReading(call)
            if error.code == .limitsExceeded { return replies.refuse(call, error.code, error.message) }
            fail(call, of: interface.name, error, as: error.code)
        }
    }
    /// Calls back with the charge for a page, of which a peer has one at a time; or refuses the call.
    private func admit(_ call: IncomingCall, _ body: @escaping @Sendable (PeerLedger.Charge) -> Void) {
        if let reason = replies.unread.withLock({ $0.beginReading(call.sender) }) {
            // It may be a tool that confirms nothing.
            replies.askAboutDeliveries()
            return replies.refuse(call, .limitsExceeded, reason)
        }
        directory.credentials(of: call) { [weak self] result in
            guard let self else { return }
            do throws(RelayError) {
                _ = try result.get()
                let charge: PeerLedger.Charge
                do throws(PeerLedger.Refusal) {
                    charge = try ledger.charge(.pages, Self.pageLength, to: call.sender)
                } catch { throw error.error }
                body(charge)
            } catch {
                endReading(call)
                replies.refuse(call, error.code, error.message)
            }
        }
    }
    private func answer(
        _ call: IncomingCall, _ interface: ExportedInterface, _ log: ExportedLog, _ result: Result<LogPage, RelayError>,
        _ charge: PeerLedger.Charge, _ socket: ReplaySocket?
    ) {
        do throws(RelayError) {
            let page = try result.get()
            var body = pageMemory.withLock { $0.take() } ?? WireWriter(capacity: Self.pageLength + Self.pageLength / 4)
            try Stream1.write(page, signatures: log.signatures, into: &body)
            // A row that is larger than any event: put there by hand.
            let count = body.count
            if count > Self.longestAnswer {
                throw RelayError(.tooLarge, "a page of \(count) bytes, up to \(page.through)")
            }
            if socket != nil, count > Self.longestWritten {
                throw RelayError(.tooLarge, "a page of \(count) bytes, with a large event: use Read")
            }
            do throws(PeerLedger.Refusal) { try charge.change(to: count) } catch { throw error.error }
            // Before it leaves: the peer may attach with what it read as soon as it has it. Not what lies beyond all
            // events, as it can when `after` does.
            interface.stream.handOut(through: min(page.through, page.head))
            guard let socket else { return deliver(call, Stream1.pageSignature, body.bytes, charge) }
            if body.withUnsafeBytes({ socket.write($0) }) {
                keepMemory(of: body)
                var numbers = WireWriter()
                numbers.uint32(UInt32(count))
                return deliver(call, Stream1.replaySignature, numbers.bytes, charge)
            }
            loop.execute { [self] in
                endReading(call)
                state.onLoop.sockets.remove(socket, of: call.sender)
                replies.fail(call, .conflict, "the socket for the replay has no room: use Read, or give another one")
            }
        } catch {
            endReading(call)
            switch error.code {
            case .limitsExceeded: replies.refuse(call, error.code, error.message)
            case .tooLarge: replies.fail(call, error.code, error.message)
            default: fail(call, of: interface.name, error, as: error.code)
            }
        }
    }
    private func endReading(_ call: IncomingCall) { replies.unread.withLock { $0.endReading(call.sender) } }
    /// The log gave no answer: the peer gets the kind of the failure, and the administrator all of it, with its path.
    private func fail(_ call: IncomingCall, of interface: String, _ error: RelayError, as code: RelayError.Code) {
        let text = "the journal could not be read for \(interface)"
        replies.report(.readFailed, "\(text): \(error.message)", of: call, code)
        replies.fail(call, code, "\(text): \(error.clauseForPeers)")
    }
    /// For the next page: a reader that goes on asks at once.
    private func keepMemory(of body: consuming WireWriter) {
        body.removeAll()
        let memory = body
        pageMemory.withLock { $0 = memory }
    }
    /// Answers with a page, which counts until its peer has read it. On the loop's thread: this one yields to all
    /// others, and must not be what they wait for with the connection in its hands.
    private func deliver(_ call: IncomingCall, _ signature: String, _ body: [UInt8], _ charge: PeerLedger.Charge) {
        loop.execute { [self] in
            endReading(call)
            // Always one: the text is ours.
            guard let signature = try? Signature(signature) else { return }
            try? replies.deliver(to: call, charge) {
                call.connection.reply(to: call, signature, body: body, serial: $0)
            }
        }
    }
}
