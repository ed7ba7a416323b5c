import Synchronization
import RelayWire

/// One document of an exported interface, without its type.
package class AnyExportedDocument: @unchecked Sendable {  // Immutable but for the handler, which has a lock.
    let name: String
    /// nil: it has no Swift type.
    let type: ObjectIdentifier?
    let stream: PublishedStream
    let book: DocumentBook
    /// Its number among the interface's events.
    let number: Int
    /// Its interface's place among those that the log keeps; nil for a volatile one.
    package let logIndex: Int?

    init(
        _ name: String, type: ObjectIdentifier? = nil, _ stream: PublishedStream, _ book: DocumentBook, _ number: Int,
        logIndex: Int?
    ) {
        self.type = type
        (self.name, self.stream, self.book, self.number, self.logIndex) = (name, stream, book, number, logIndex)
    }
    /// Begins with what the log has, or with the initial state.
    ///
    /// Throws `SchemaMismatch` for a state that this version of the document cannot be read from.
    func begin(_ logged: LoggedDocument?, _ schemas: [UInt32: EventSchema]) throws {}
    /// Answers submissions, if the document is editable.
    func acceptSubmissions(_ service: EventService) {}
    /// Finds the documents of older interfaces that are set with this one. Before anything is published.
    func find(_ events: ExportedEvents) throws {}
    /// Those begin with what they become of this one, as long as neither was ever set.
    func beginOlder() throws {}
    /// Sets those that are not what they become of this one.
    func setOlder(in log: any EventLogStorage) async throws {}
}

/// One document with its codec.
package final class ExportedDocument<Document: DomainDocument>: AnyExportedDocument, @unchecked Sendable {
    private let codec: WireCodec<Document>
    /// Of a volatile one: to those who submitted it with a key.
    let replies = Mutex(MemoryReplies())
    /// What is left for headers, the stamp and the names in a message: it must not be found too large once it was
    /// committed.
    private static var room: Int { 4_096 }

    private let older: [any DocumentDerivation<Document>]
    /// The older documents that are set with this one. Set by `find`.
    private var followers: [any DocumentFollower<Document>] = []
    /// Of a volatile one: a new state is compared with the last entry, and gets its place, by one thread at a time.
    private let order = PublishingLock(())

    init(
        _ codec: WireCodec<Document>, _ stream: PublishedStream, _ book: DocumentBook, _ number: Int, logIndex: Int?,
        older: [any DocumentDerivation<Document>] = []
    ) {
        (self.codec, self.older) = (codec, older)
        super.init(Document.name, type: ObjectIdentifier(Document.self), stream, book, number, logIndex: logIndex)
    }
    override func begin(_ logged: LoggedDocument?, _ schemas: [UInt32: EventSchema]) throws {
        guard let logged else {
            return book.begin(number, fields: try encode(.initial), sequence: 0, state: Document.initial)
        }
        let state: Document
        do {
            let sender = schemas[logged.schema]?.fields ?? []
            let translation = try WireTranslation(from: sender, to: codec.schema.fields, .reading, of: name)
            state = try logged.body.withUnsafeBytes { try codec.decode(stamped: $0, by: translation) }
        } catch {
            let reason = (error as? RelayError)?.message ?? "\(error)"
            throw RelayError(
                .schemaMismatch,
                "the journal's state of \(stream.interface).\(name) cannot be read: \(reason); give the changed document "
                    + "another name", cause: error)
        }
        book.begin(number, fields: try encode(state), sequence: logged.sequence, state: state)
    }

    override func acceptSubmissions(_ service: EventService) {
        func accept<D: EditableDocument>(_ type: D.Type) {
            guard let document = self as? ExportedDocument<D> else { return }
            let submissions = Submissions(document, setting: document, of: service) { state, _ in
                state
            } refusal: {
                $0
            }
            service.setHandler(SubmitDocument<D>.self) { try await submissions.answer($0, $1) }
        }
        if let type = Document.self as? any EditableDocument.Type { accept(type) }
    }

    /// The present state, and its version.
    package var present: (state: Document, sequence: UInt64) {
        guard let entry = book[number] else { return (.initial, 0) }
        if let state = entry.state as? Document { return (state, entry.sequence) }
        // What was set has been decoded once: see `encode`.
        let state = (try? entry.fields.withUnsafeBytes { try codec.decode($0) }) ?? .initial
        book.know(number, state, of: entry.sequence)
        return (state, entry.sequence)
    }
    package func version(_ sequence: UInt64) -> DocumentVersion {
        DocumentVersion(epoch: stream.epoch, sequence: sequence)
    }
    /// Whether a version is of this run or of one that led to it: then it is the present one if the last entry has its
    /// sequence. It stays so as long as the service runs.
    func isInHistory(_ version: DocumentVersion, _ log: (any EventLogStorage)?) async throws -> Bool {
        if logIndex == nil { return version.epoch == stream.epoch }
        return switch stream.common(version) {
        case .known(let common): stream.includes(version, common)
        case .unknown: stream.includes(version, try await log?.find(RunQuestion(version), in: stream.interface))
        }
    }

    /// The fields of a state. Throws `InvalidArgument` for one that cannot be carried, or not be read again, and
    /// `TooLarge` for one that no message has room for.
    private func encode(_ state: Document) throws -> [UInt8] {
        var writer = WireWriter()
        try codec.encode(state, into: &writer)
        let limit = WireLimits.defaultMessageLength - Self.room
        if writer.count > limit {
            throw RelayError(
                .tooLarge,
                "\(name): a state of \(writer.count) bytes; a document has at most \(limit): publish events, and read the "
                    + "rest in pages")
        }
        try stream.check(writer.count, number)
        let fields = writer.takeBytes()
        _ = try fields.withUnsafeBytes { try codec.decode($0) }
        return fields
    }

    // MARK: Within a transaction

    /// The document as a transaction has it.
    package func draft(in unit: some LogUnit) -> DocumentDraft<Document> {
        if let draft = unit.drafts.draft(of: Document.self) { return draft }
        // What other transactions have set was entered before this one began.
        let (state, sequence) = present
        return DocumentDraft(state, sequence: sequence)
    }
    /// Adds an entry, unless the state is equal. Returns the version that the document then has.
    @discardableResult
    package func set(_ state: Document, in unit: some LogUnit) throws -> DocumentVersion {
        let draft = draft(in: unit)
        if draft.state == state { return version(draft.sequence) }
        let sequence = try unit.publish(encoded(state)) ?? draft.sequence
        unit.drafts.set(state, sequence: sequence)
        // Those of a volatile document are set with its entry.
        if logIndex != nil { for follower in followers { try follower.set(state, in: unit) } }
        return version(sequence)
    }
    func isPresent(_ version: DocumentVersion, in unit: some LogUnit) throws -> Bool {
        if version.sequence != draft(in: unit).sequence { return false }
        switch stream.common(version) {
        case .known(let common): return stream.includes(version, common)
        case .unknown: return stream.includes(version, try unit.find(RunQuestion(version), in: stream.interface))
        }
    }

    // MARK: Older documents

    override func find(_ events: ExportedEvents) throws {
        followers = try older.map { try $0.follower(of: events) }
    }
    override func beginOlder() throws {
        let (state, sequence) = present
        for follower in followers { try follower.begin(sequence == 0 ? state : nil) }
    }
    /// Begins with what it becomes of the newer document. Before the stream is connected.
    func begin(following state: Document) throws {
        if present.sequence == 0 {
            book.begin(number, fields: try encode(state), sequence: 0, state: state)
        }
    }
    override func setOlder(in log: any EventLogStorage) async throws {
        let state = present
        // Never set since there is such a document: the older one keeps what an earlier release has left.
        if logIndex == nil || state.sequence == 0 { return }
        if try followers.allSatisfy({ try $0.isInStep(with: state.state) }) { return }
        try await log.perform { [self] unit in
            let state = draft(in: unit).state
            for follower in followers { try follower.set(state, in: unit) }
        }
    }

    /// What is to be committed.
    package func encoded(_ state: Document) throws -> EncodedEvent {
        guard let logIndex else {
            let placing = try placing(state)
            // If the run has ended in between, it is lost, like any volatile event.
            return .volatile { [self] in _ = try? inOrder(placing) }
        }
        let fields = try encode(state)
        var writer = WireWriter(capacity: fields.count + 32)
        writer.append(fields)
        return .durable(interface: logIndex, LoggedEvent(number, &writer))
    }

    // MARK: Volatile

    /// Calls `body` while the document gets no new entry. Only for one of a volatile interface; no code of a user's.
    func inOrder<Result: Sendable>(_ body: () throws -> Result) throws -> Result {
        try order.withLock { _ in try body() }
    }
    /// Encodes a state, and what older documents become of it. What it returns sets them in their order (`inOrder`), if
    /// the state is another one than the last entry has.
    func placing(_ state: Document) throws -> @Sendable () throws -> Void {
        let fields = try encode(state)
        let setOthers = try followers.map { try $0.setting(state) }
        // As long as the entry is this one.
        let (present, sequence) = present
        let isEqual = present == state
        return { [self] in
            guard let last = book[number]?.sequence else { return }
            if isEqual && last == sequence { return }
            var message = try EventMessage(stream.templates[number]) { $0.append(fields) }
            try stream.publish(number, &message)
            if let entry = book[number] { book.know(number, state, of: entry.sequence) }
            for set in setOthers { try set() }
        }
    }
    /// Sets a volatile document; an equal state publishes nothing.
    func set(_ state: Document) throws { try update { $0 = state } }
    /// Changes a volatile document: once more, if it was changed meanwhile.
    func update<Result>(_ change: (inout Document) throws -> Result) throws -> Result {
        while true {
            let (present, sequence) = present
            var state = present
            let result = try change(&state)
            if state == present { return result }
            let placing = try placing(state)
            let isDone = try inOrder {
                if book[number]?.sequence != sequence { return false }
                try placing()
                return true
            }
            if isDone { return result }
        }
    }
}

extension PublishedStream {
    /// The run of a version.
    fileprivate func common(_ version: DocumentVersion) -> StreamHistory.Finding {
        state.withLock { $0.history?.common(RunQuestion(version)) ?? .known(nil) }
    }
    /// Whether the sequence of a version is the same event in this history. In this run, all are; and 0, the initial
    /// state, is the same in all histories.
    fileprivate func includes(_ version: DocumentVersion, _ common: CommonRun?) -> Bool {
        version.epoch == epoch || common?.from(head: .max) ?? 0 == version.sequence
    }
}

extension RunQuestion {
    fileprivate init(_ version: DocumentVersion) { self.init(epoch: version.epoch, after: version.sequence) }
}
