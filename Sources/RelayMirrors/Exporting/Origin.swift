import RelayCore
import RelayWire

/// One run of an origin, for one interface: everything that an exporter reads of it.
struct Origin: Sendable {
    let connection: OriginConnection
    let interface: String
    /// The unique name that answered: with another one all of this is void.
    let owner: String
    let epoch: UInt64
    let journal: UInt64
    let oldest: UInt64
    let runs: [StreamRun]
    private let schemas: [UInt32: EventSchema]
    /// Each alone, as a page has it.
    private let prefaces: [UInt32: [UInt8]]
    /// Those that signals have, by the event's name.
    private let present: [String: UInt32]
    private let contract: ContractText
    private let pages: OriginPages
    /// nil: events come by signals.
    private let ring: OriginRing?
    private var path: String { Stream1.path(of: interface) }

    /// Events that follow each other in the journal, as pages; of one run.
    struct Page: Sendable {
        let epoch: UInt64
        var messages: [MirrorMessage]
        /// When its first event was published; nil: it has none.
        let since: Timestamp?
        /// nil: it is not known, as the events came by signals.
        let oldest: UInt64?
        let through: UInt64
        let head: UInt64
    }

    /// Attaches. Throws `.invalidArgument` for an interface that cannot be exported.
    init(_ connection: OriginConnection, _ interface: String) async throws(RelayError) {
        guard let owner = connection.owner else {
            throw RelayError(
                .unavailable, "\(connection.service) is not on the bus: its events are exported when it runs")
        }
        let path = Stream1.path(of: interface)
        (self.connection, self.interface, self.owner) = (connection, interface, owner)
        let contracts = try await Self.contracts(of: connection)
        guard let contract = contracts[interface] else {
            throw RelayError(
                .notFound,
                "\(connection.service) has no interface \(interface): it has "
                    + contracts.keys.sorted().joined(separator: ", "))
        }
        if !contract.isDurable {
            throw RelayError(
                .invalidArgument, "\(interface) of \(connection.service) is volatile: only a journal can be mirrored")
        }
        self.contract = contract
        schemas = try await connection.ask("Schemas", at: path, returning: Stream1.schemasSignature) {
            try Stream1.readSchemas(&$0)
        }
        prefaces = try MirrorPageWriter.prefaces(schemas)
        // Of several schemas of one event the highest number is the present one.
        present = Dictionary(schemas.map { ($0.value.event, $0.key) }, uniquingKeysWith: max)
        ring = await OriginRing.open(connection, at: path, present.compactMapValues { [schemas] in schemas[$0] })
        let attachment = try await connection.ask(
            "Attach", at: path, Stream1.attachSignature, returning: Stream1.attachmentSignature
        ) { body in
            try Stream1.write(AttachRequest(names: [Stream1.allNames]), into: &body)
        } _: { reader in
            try Stream1.readAttachment(&reader)
        }
        (epoch, oldest) = (attachment.epoch, attachment.oldest)
        pages = OriginPages(connection, path, hasReplays: attachment.details.features.contains(.replays))
        runs = try await Self.runs(of: connection, path)
        journal = attachment.details.journal == 0 ? runs.first?.epoch ?? epoch : attachment.details.journal
        var first: UInt64 = 1
        for run in runs {
            if run.first < first || run.first > MirrorHeader.lastSequence || oldest > MirrorHeader.lastSequence {
                throw RelayError(
                    .schemaMismatch,
                    "\(connection.service) reports a run from #\(run.first) on, and #\(oldest) as the oldest event")
            }
            first = run.first
        }
        if runs.last?.epoch != epoch || connection.owner != owner {
            throw RelayError(.unavailable, "\(connection.service) was restarted while it was asked for its runs")
        }
    }
    /// It is to be attached to again, as its ring has ended.
    var isCutOff: Bool { ring?.hasEnded(at: connection) ?? false }
    static func contracts(of connection: OriginConnection) async throws(RelayError) -> [String: ContractText] {
        let texts = try await connection.ask("Contract", at: "/", returning: Stream1.contractSignature) {
            try Stream1.readContract(&$0).contracts
        }
        var contracts: [String: ContractText] = [:]
        for (name, text) in texts { contracts[name] = try ContractText(parsing: text) }
        return contracts
    }
    private static func runs(of connection: OriginConnection, _ path: String) async throws(RelayError) -> [StreamRun] {
        var runs: [StreamRun] = []
        while true {
            let page: [StreamRun]
            do throws(RelayError) {
                page = try await connection.ask(
                    "Runs", at: path, Stream1.runsSignature, returning: Stream1.runPageSignature
                ) {
                    body in
                    body.uint64(runs.last?.epoch ?? 0)
                    body.uint32(0)
                } _: { reader in
                    try Stream1.readRuns(&reader)
                }
            } catch {
                if (error.cause as? RemoteError)?.name != ErrorNames.unknownMethod { throw error }
                throw RelayError(
                    .unavailable,
                    "\(connection.service) does not report its runs: build it with a version of Relay whose Stream1 has Runs",
                    cause: error)
            }
            if page.isEmpty { return runs }
            runs += page
        }
    }

    // MARK: Pages

    /// What the journal has behind a sequence, made of the bytes of the answer: nothing is decoded.
    func read(after: UInt64, writer: UInt64) async throws(RelayError) -> Page {
        try await pages.read(after: after) { reader in
            var pages = MirrorPageWriter(epoch: 0, journal: journal, writer: writer)
            // An event takes less in a page of a mirror than in one of the journal.
            let capacity = min(reader.count, MirrorMessage.bodySize) + 4_096
            var (epoch, messages): (UInt64, [MirrorMessage]) = (0, [])
            var since: Timestamp?
            var parser = PageReader()
            let answer = reader
            let page = try parser.read(&reader) { page in
                epoch = page.epoch
                pages = MirrorPageWriter(
                    epoch: page.epoch, journal: journal, writer: writer, prefaces: prefaces,
                    schemas: prefaces.first?.value.count ?? 0, capacity: capacity)
            } event: { event in
                let body = answer.bytes(event.body, from: 0)
                guard let stamp = Stamp(endOf: body, epoch: epoch), stamp.sequence <= MirrorHeader.lastSequence else {
                    throw RelayError(.schemaMismatch, "\(connection.service) sent an event without a valid stamp")
                }
                since = since ?? stamp.publishedAt
                if pages.append(stamp.sequence, schema: event.schema, body: body) { return }
                if let message = try pages.take(schemas) { messages.append(message) }
                _ = pages.append(stamp.sequence, schema: event.schema, body: body)
            }
            if let message = try pages.take(schemas) { messages.append(message) }
            return Page(
                epoch: page.epoch, messages: messages, since: since, oldest: page.oldest, through: page.through,
                head: page.head)
        }
    }

    /// Events that follow each other, as signals have brought them. nil: of an event that has no schema.
    func page(of events: ArraySlice<LiveEvents.Event>, writer: UInt64) throws(RelayError) -> Page? {
        var pages = MirrorPageWriter(
            epoch: epoch, journal: journal, writer: writer, prefaces: prefaces,
            schemas: events.first.flatMap { present[$0.name] }.flatMap { prefaces[$0]?.count } ?? 0)
        var messages: [MirrorMessage] = []
        for event in events {
            guard let schema = present[event.name] else { return nil }
            func append() -> Bool {
                event.body.withUnsafeBytes { pages.append(event.sequence, schema: schema, body: $0) }
            }
            if append() { continue }
            if let message = try pages.take(schemas) { messages.append(message) }
            _ = append()
        }
        guard let message = try pages.take(schemas), let last = events.last?.sequence else { return nil }
        messages.append(message)
        let since = events.first?.body.withUnsafeBytes { Stamp(endOf: $0, epoch: epoch)?.publishedAt }
        return Page(epoch: epoch, messages: messages, since: since, oldest: nil, through: last, head: last)
    }

    // MARK: Snapshots

    /// What mirrors have to know beside the events, as it is now.
    func snapshot(_ table: RunTable) async throws(RelayError) -> MirrorSnapshot {
        var snapshot = MirrorSnapshot(table)
        snapshot.schemas = schemas
        snapshot.last = try await connection.ask("Barrier", at: path, returning: Stream1.headSignature) {
            try Stream1.readHead(&$0).last
        }
        if let last = snapshot.last.values.max(), last > MirrorHeader.lastSequence {
            throw RelayError(.schemaMismatch, "\(connection.service) reports #\(last) as the last event")
        }
        for document in contract.documents {
            let state = try await connection.ask(
                "GetDocument", at: path, "s", returning: Stream1.documentSignature
            ) { body in
                try body.string(document.name)
            } _: { reader in
                try Stream1.readDocument(&reader)
            }
            guard schemas[state.schema] != nil else {
                throw RelayError(
                    .schemaMismatch,
                    "\(connection.service) has the document \(document.name) in a schema that it does not report")
            }
            snapshot.documents.append(
                MirrorSnapshot.Document(
                    name: document.name, sequence: state.version.sequence, schema: state.schema, state: state.fields))
        }
        snapshot.contract = contract.text
        return snapshot
    }
}
