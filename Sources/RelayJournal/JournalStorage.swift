import RelayCore

/// The journal, as its service and its owner hold it: it is closed when neither does any more.
final class JournalStorage: EventLogStorage {
    let writer: JournalWriter
    let replyCodecs = ReplyCodecs()
    let consumers = ConsumerNames()
    private let reader: JournalReader
    private let snapshots: SnapshotReaders

    /// Of the whole file, if one is made.
    let check: JournalCheck?
    private let file: JournalFile
    var path: String { file.path }

    private let notices: NoticeReporter
    private let board: TroubleBoard

    init(
        _ writer: JournalWriter, _ reader: JournalReader, _ snapshots: SnapshotReaders, _ check: JournalCheck?,
        _ file: JournalFile, _ notices: NoticeReporter, _ board: TroubleBoard
    ) {
        (self.writer, self.reader, self.snapshots, self.check, self.file) = (writer, reader, snapshots, check, file)
        (self.notices, self.board) = (notices, board)
    }
    deinit { close() }

    /// Returns when the file is closed; within a unit of work or a read, before that: then it is closed once they have
    /// returned.
    func close() {
        check?.stop()
        // The writer last: the last connection to close moves the WAL into the file.
        let isWithinRead = snapshots.stop()
        if !isWithinRead { snapshots.waitForEnd() }
        reader.stop()
        writer.stop(waits: !isWithinRead)
    }
    func discardUnused() { writer.discardUnused() }
    /// Looks at all of the file, if that is to be done, while it is used.
    func startCheck() throws(RelayError) {
        do {
            if check != nil {
                notices.report(
                    .journalCheck, .info,
                    "\(file.path) was not left by a service that ended in good order: all of its \(DiskRoom.text(file.size)) "
                        + "are checked while it is used")
            }
            try check?.start { [writer, file, notices] outcome in
                switch outcome {
                case .sound: notices.report(.journalCheck, .info, "\(file.path) is sound")
                case .damaged(let what):
                    let failure = file.found(what)
                    file.marks.setDamaged(what)
                    notices.report(.journalCheck, .error, failure.message, of: Notice.Subject(code: failure.code))
                    writer.submit(.call { $0.fail(failure) })
                case .failed(let error):
                    notices.report(.journalCheck, .warning, "\(error.message); the next start checks it again")
                case .interrupted: break
                }
            }
        } catch {
            check?.abandon(error)
            throw error
        }
    }
    func open(_ interfaces: [LoggedInterface], encoder: any EventEncoder) throws -> [LogSnapshot] {
        let answer = Monitor<Result<[LogSnapshot], any Error>?>(nil)
        let isTaken = writer.submit(
            .call { [reader] engine in
                let result = Result {
                    let opened = try engine.open(interfaces, encoder)
                    reader.serve(
                        opened.reduce(into: [:]) { $0[$1.1.logged.name] = ReadInterface(id: $1.1.id, $1.0) })
                    return opened.map { $0.0 }
                }
                answer.withLock { $0 = result }
                answer.announce()
            })
        if !isTaken { throw writer.closed() }
        // A moment, at the start of a service.
        do {
            return try answer.wait { $0 }?.get() ?? []
        } catch let error as RelayError where UnfitJournal.explains(error) || error.cause is SQLiteError {
            throw error.ofOpening
        }
    }
    /// Nothing can be read until `open`.
    func endServing() { reader.serve([:]) }
    /// How many wait in the queue.
    var waiting: Int { writer.waiting }
    /// Does something on the writer's thread, between two groups.
    func call(_ body: @escaping @Sendable (JournalEngine) -> Void) async {
        await withCheckedContinuation { continuation in
            let isTaken = writer.submit(
                .call {
                    body($0)
                    continuation.resume()
                })
            if !isTaken { continuation.resume() }
        }
    }
    func commit(_ event: EncodedEvent) async throws {
        try await withUnsafeThrowingContinuation { continuation in
            writer.submit(.event(event, continuation))
        }
    }
    func commit(_ events: [EncodedEvent]) async throws {
        try await withUnsafeThrowingContinuation { continuation in
            writer.submit(.events(events, continuation))
        }
    }
    func unitOfWork<Result>(
        _ body: sending @escaping (inout UnitOfWork) throws -> sending Result,
        report: sending @escaping (any Error, inout RefusalEvents) throws -> Void = { _, _ in }
    ) async throws -> sending Result {
        let work = UnitWork(body, report)
        return try await withUnsafeThrowingContinuation { continuation in
            work.continuation = continuation
            writer.submit(.unit(work))
        }
    }
    func snapshot<Result>(
        _ body: sending @escaping (inout JournalSnapshot) throws -> sending Result
    ) async throws -> sending Result {
        if let failure = writer.failure { throw JournalEngine.unavailable(path, failure) }
        let work = SnapshotWork(body)
        return try await withUnsafeThrowingContinuation { continuation in
            work.continuation = continuation
            snapshots.submit(work)
        }
    }
    func read(_ request: LogRequest, completion: @escaping @Sendable (Result<LogPage, RelayError>) -> Void) {
        if let failure = writer.failure {
            return completion(.failure(JournalEngine.unavailable(path, failure)))
        }
        reader.submit(.page(request, completion))
    }
    func find(
        _ question: RunQuestion, in interface: String,
        completion: @escaping @Sendable (Result<CommonRun?, RelayError>) -> Void
    ) {
        reader.submit(.runs(interface, question, completion))
    }
    func runs(
        after epoch: UInt64, atMost limit: Int, in interface: String,
        completion: @escaping @Sendable (Result<[StreamRun]?, RelayError>) -> Void
    ) {
        reader.submit(.allRuns(interface, after: epoch, atMost: limit, completion))
    }
    func figures(of interface: String) async throws -> [(name: String, value: UInt64)] {
        let figures: [(name: String, value: UInt64)] = try await withCheckedThrowingContinuation { continuation in
            reader.submit(.figures(interface, continuation))
        }
        let walSize = UInt64(file.walSize)
        let isChecked = check?.isSound ?? true
        return figures.map { name, value in (name: name, value: name == "fileBytes" ? value + walSize : value) }
            + [(name: "walBytes", value: walSize), (name: "checked", value: isChecked ? 1 : 0)]
            + (board.present.map { [(name: "storageError", value: UInt64(clamping: $0.system.code))] } ?? [])
            + (DiskRoom.free(at: path).map { [(name: "freeBytes", value: $0)] } ?? [])
    }
    var activity: LogActivity { writer.present }
    func onFailure(_ body: @escaping @Sendable (RelayError) -> Void) { writer.onFailure(body) }
    func onTrouble(_ body: @escaping @Sendable (String?) -> Void) {
        board.observe { [path] trouble in body(trouble.map { "commits are refused: \($0.clause(path))" }) }
    }
}
