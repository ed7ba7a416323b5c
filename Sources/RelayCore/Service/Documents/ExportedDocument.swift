import Synchronization

/// One document of an exported interface, without its type.
package class AnyExportedDocument: @unchecked Sendable {  // Immutable but for the handler, which has a lock.
    let name: String
    let stream: PublishedStream
    /// Its number among the interface's events.
    let number: Int
    /// Its interface's place among those that the log keeps; nil for a volatile one.
    package let logIndex: Int?

    init(_ name: String, _ stream: PublishedStream, _ number: Int, logIndex: Int?) {
        (self.name, self.stream, self.number, self.logIndex) = (name, stream, number, logIndex)
    }
    /// Begins with what the log has, or with the initial state.
    ///
    /// Throws `SchemaMismatch` for a state that this version of the document cannot be read from.
    func begin(_ logged: LoggedDocument?, _ schemas: [UInt32: EventSchema]) throws {}
    /// Until the service has a handler, sets what is submitted, if the document is editable.
    func acceptSubmissions(_ service: EventService) {}
    /// Finds the documents of older interfaces that are set with this one. Before anything is published.
    func follow(_ events: ExportedEvents) throws {}
}

/// One document with its codec.
package final class ExportedDocument<Document: DomainDocument>: AnyExportedDocument, @unchecked Sendable {
    private let codec: WireCodec<Document>
    let operations = Mutex(RecentOperations())
    /// What is left for headers, the stamp and the names in a message: it must not be found too large once it was
    /// committed.
    private static var room: Int { 4_096 }

    private let older: [any DocumentDerivation<Document>]
    /// Of a volatile one: encode what the older documents become, and return what sets them. Set by `follow`.
    private var followers: [(Document) throws -> () throws -> Void] = []
    /// Older documents are set in this one's order.
    private let order = PublishingLock(())

    init(
        _ codec: WireCodec<Document>, _ stream: PublishedStream, _ number: Int, logIndex: Int?,
        older: [any DocumentDerivation<Document>] = []
    ) {
        (self.codec, self.older) = (codec, older)
        super.init(Document.name, stream, number, logIndex: logIndex)
    }
    override func begin(_ logged: LoggedDocument?, _ schemas: [UInt32: EventSchema]) throws {
        guard let logged else {
            return stream.begin(number, fields: try encode(.initial), sequence: 0, state: Document.initial)
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
        stream.begin(number, fields: try encode(state), sequence: logged.sequence, state: state)
    }

    override func acceptSubmissions(_ service: EventService) {
        func accept<D: EditableDocument>(_ type: D.Type) {
            guard let document = self as? ExportedDocument<D> else { return }
            let submissions = Submissions(document: document, log: service.storage, handler: nil)
            service.answerSubmissions(of: type) { try await submissions.answer($0, $1) }
        }
        if let type = Document.self as? any EditableDocument.Type { accept(type) }
    }

    /// The present state, and its version.
    package var present: (state: Document, sequence: UInt64) {
        guard let entry = stream.document(number) else { return (.initial, 0) }
        if let state = entry.state as? Document { return (state, entry.sequence) }
        // What was set has been decoded once: see `encode`.
        let state = (try? entry.fields.withUnsafeBytes { try codec.decode($0) }) ?? .initial
        stream.know(number, state, of: entry.sequence)
        return (state, entry.sequence)
    }
    package func version(_ sequence: UInt64) -> DocumentVersion {
        DocumentVersion(epoch: stream.epoch, sequence: sequence)
    }
    /// Whether a version is of this run or of one that led to it: then it is the present one if the last entry has its
    /// sequence. It stays so as long as the service runs.
    ///
    /// - Parameter find: looks for a run in the log.
    package func isInHistory<Failure: Error>(
        _ version: DocumentVersion, find: (RunQuestion) throws(Failure) -> CommonRun?
    ) throws(Failure) -> Bool {
        switch stream.common(version) {
        case .known(let common): stream.includes(version, common)
        case .unknown: stream.includes(version, try find(RunQuestion(version)))
        }
    }
    /// The same, which asks the log.
    func isInHistory(_ version: DocumentVersion, _ log: any EventLogStorage) async throws -> Bool {
        switch stream.common(version) {
        case .known(let common): stream.includes(version, common)
        case .unknown: stream.includes(version, try await log.find(RunQuestion(version), in: stream.interface))
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
    override func follow(_ events: ExportedEvents) throws {
        if logIndex != nil { return }
        followers = try older.compactMap { try ($0 as? any VolatileDerivation<Document>)?.follower(of: events) }
    }
    /// Sets the documents of older interfaces within a transaction that has set this one.
    package func setOlder<Sink: DocumentSink & ~Copyable>(_ state: Document, in sink: inout Sink) throws {
        for derivation in older { try derivation.set(state, in: &sink) }
    }
    /// Encodes a state; what it returns sets it.
    func prepared(_ state: Document) throws -> () throws -> Void {
        let fields = try encode(state)
        return { [self] in _ = try set(state, fields) }
    }
    /// Gives a new state of a volatile document its place, and one to each document that follows it.
    private func place(
        _ fields: [UInt8], _ state: Document, after sequence: UInt64, placed: (UInt64) -> Void = { _ in }
    ) throws -> UInt64? {
        if followers.isEmpty {
            return try stream.publish(document: number, fields, state, after: sequence, placed: placed)
        }
        let setOthers = try followers.map { try $0(state) }
        return try order.withLock { _ in
            guard let placed = try stream.publish(document: number, fields, state, after: sequence, placed: placed)
            else { return nil }
            for set in setOthers { try set() }
            return placed
        }
    }
    /// What is to be committed.
    package func encoded(_ state: Document) throws -> EncodedEvent {
        let fields = try encode(state)
        guard let logIndex else {
            // If the run has ended in between, it is lost, like any volatile event.
            return .volatile { [self] in _ = try? set(state, fields) }
        }
        var writer = WireWriter(capacity: fields.count + 32)
        writer.append(fields)
        return .durable(interface: logIndex, LoggedEvent(number, &writer))
    }

    // MARK: Volatile

    /// Sets a volatile document; an equal state publishes nothing. Returns its version then.
    func set(_ state: Document) throws -> DocumentVersion { try set(state, encode(state)) }
    private func set(_ state: Document, _ fields: [UInt8]) throws -> DocumentVersion {
        while true {
            let (present, sequence) = present
            if present == state { return version(sequence) }
            if let placed = try place(fields, state, after: sequence) {
                return version(placed)
            }
        }
    }
    /// Changes a volatile document: once more, if it was changed meanwhile.
    func update<Result>(_ change: (inout Document) throws -> Result) throws -> Result {
        while true {
            let (present, sequence) = present
            var state = present
            let result = try change(&state)
            if state == present { return result }
            if try place(encode(state), state, after: sequence) != nil { return result }
        }
    }
    /// As a submission of a volatile document: nil if its version is not the present one.
    func set(
        _ state: Document, basedOn basis: DocumentVersion, placed: (DocumentVersion) -> Void
    ) throws -> DocumentVersion? {
        let fields = try encode(state)
        let (present, sequence) = present
        guard basis == version(sequence) else { return nil }
        if present == state {
            placed(version(sequence))
            return version(sequence)
        }
        return try place(fields, state, after: sequence) { placed(version($0)) }
            .map { version($0) }
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
