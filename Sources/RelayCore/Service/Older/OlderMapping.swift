extension EventInterface {
    /// An older version of this interface, which a service serves beside it without publishing anything twice.
    ///
    /// ```swift
    /// let older = Printing2.serving(Printing1.self) { older in
    ///     older.event(PagesPrinted.self) { job in
    ///         JobPrinted(jobID: job.jobID, title: job.title ?? "", pages: Int32(job.pages.count))
    ///     }
    ///     older.nothing(for: PaperAdded.self)
    ///     older.command(PrintJob.self) { job in
    ///         PrintPages(title: job.title, pages: Array(1...job.pages))
    ///     } reply: { reply in
    ///         PrintJob.Reply(jobID: reply.jobID)
    ///     }
    ///     older.ownHandler(for: CancelJob.self)
    /// }
    /// let service = try EventService(
    ///     name: "org.example.Printer", exporting: Printing2.self, older: older, journal: journal)
    /// ```
    ///
    /// Each event of this interface is mapped to none, one or several events of the older one. They are committed in the
    /// same transaction, or published together if both interfaces are volatile. Each command of the older interface is
    /// mapped to one of this interface, whose handler runs. Otherwise the older interface is as any other: front ends
    /// follow it as before, with their cursors, and its history in the journal goes on.
    ///
    /// - Parameter old: the older interface, which keeps its events as this one does.
    /// - Parameter map: maps every event, document and command, once.
    /// - Returns: the older interface, for `EventService(older:)`. If something is not mapped, the service's
    ///   initialiser throws `.invalidArgument` with the names.
    public static func serving<Old: EventInterface>(
        _ old: Old.Type, _ map: (inout OlderMapping<Self, Old>) -> Void
    ) -> OlderInterface where Old.Durability == Durability {
        var mapping = OlderMapping<Self, Old>()
        map(&mapping)
        return OlderInterface(interface: old, newer: Self.self, parts: mapping.parts, fault: mapping.fault)
    }
}

/// An older version of an interface, derived from a newer one: see `EventInterface.serving(_:_:)`.
public struct OlderInterface: Sendable {
    let interface: any EventInterface.Type
    let newer: any EventInterface.Type
    let parts: OlderParts
    /// Why it cannot be served.
    let fault: String?
}

/// What is mapped, by the types of the newer interface's events and documents, and of the older one's commands.
struct OlderParts: Sendable {
    /// Each an `EventDerivation`; several where there are several older interfaces.
    var events: [ObjectIdentifier: [any Sendable]] = [:]
    /// Each a `DocumentDerivation`.
    var documents: [ObjectIdentifier: [any Sendable]] = [:]
    var commands: [ObjectIdentifier: OlderCommand] = [:]
    /// What is nothing in the older interface; and the commands that have handlers of their own.
    var others: Set<ObjectIdentifier> = []
    var faults: [String] = []

    mutating func note(_ id: ObjectIdentifier, _ name: String) {
        if events[id] != nil || documents[id] != nil || commands[id] != nil || others.contains(id) {
            faults.append("\(name) is mapped twice")
        }
    }
}

/// Maps the events, documents and commands of an interface and an older version of it.
public struct OlderMapping<New: EventInterface, Old: EventInterface> {
    private(set) var parts = OlderParts()

    // MARK: Events

    /// Maps an event to one event of the older interface.
    ///
    /// - Parameter event: the event of the newer interface.
    /// - Parameter map: makes the event of the older one. An error refuses the publishing of both.
    public mutating func event<E: DomainEvent<New>, O: DomainEvent<Old>>(
        _ event: E.Type, to map: @escaping @Sendable (E) throws -> O
    ) { self.event(event) { event, older in try older.publish(map(event)) } }
    /// Maps an event to any number of events of the older interface.
    ///
    /// - Parameter event: the event of the newer interface.
    /// - Parameter map: publishes the events of the older one. An error refuses the publishing of all.
    public mutating func event<E: DomainEvent<New>>(
        _ event: E.Type, with map: @escaping @Sendable (E, inout OlderEvents<Old>) throws -> Void
    ) {
        parts.note(ObjectIdentifier(event), E.name)
        parts.events[ObjectIdentifier(event)] = [MappedEvent(map: map)]
    }
    /// An event or a document that the older interface has nothing for.
    ///
    /// - Parameter event: the event of the newer interface.
    public mutating func nothing<E: StreamEntry<New>>(for event: E.Type) {
        parts.note(ObjectIdentifier(event), E.name)
        parts.others.insert(ObjectIdentifier(event))
    }

    // MARK: Documents

    /// Maps a document to one of the older interface, which is set whenever this one is, and when the service starts.
    ///
    /// If front ends may submit the older document, map that, too: ``document(_:to:submitting:refusal:)``. Otherwise the
    /// service needs a handler of its own for it (`handleSubmissions`), which sets the newer document.
    ///
    /// - Parameter document: the document of the newer interface.
    /// - Parameter map: makes the state of the older one.
    public mutating func document<D: DomainDocument<New>, O: DomainDocument<Old>>(
        _ document: D.Type, to map: @escaping @Sendable (D) throws -> O
    ) {
        parts.note(ObjectIdentifier(document), D.name)
        parts.documents[ObjectIdentifier(document)] = [MappedDocument(map: map)]
    }
    /// Maps a document to one of the older interface that others may submit.
    ///
    /// ```swift
    /// older.document(TraySettings.self) { settings in
    ///     PrinterSettings(tray: settings.trays.first ?? 1, isDuplex: settings.isDuplex)
    /// } submitting: { old, present in
    ///     TraySettings(trays: [old.tray] + present.trays.dropFirst(), isDuplex: old.isDuplex)
    /// }
    /// ```
    ///
    /// What is submitted to the older document is a submission of the newer one: the same handler decides, and both
    /// documents are set. The caller has to meet the requirements of both. A retry with its idempotency key is a
    /// repetition.
    ///
    /// - Parameter document: the document of the newer interface.
    /// - Parameter map: makes the state of the older one.
    /// - Parameter forward: makes the newer document's next state, of the submitted state and the present one. It is
    ///   called again if the newer document was changed meanwhile. It can throw a refusal of the older document.
    /// - Parameter refusal: makes the older document's refusal; nil if it has none, then the caller gets
    ///   `.invalidArgument`. Defaults to the refusal of the same name.
    public mutating func document<D: EditableDocument<New>, O: EditableDocument<Old>>(
        _ document: D.Type, to map: @escaping @Sendable (D) throws -> O,
        submitting forward: @escaping @Sendable (_ submitted: O, _ present: D) throws -> D,
        refusal: @escaping @Sendable (D.Refusal) -> O.Refusal? = {
            O.Refusal(errorName: $0.errorName, message: $0.message)
        }
    ) {
        self.document(document, to: map)
        parts.commands[ObjectIdentifier(SubmitDocument<O>.self)] = OlderCommand(requirement: D.submitRequirement) {
            service in
            let (older, newer) = (try service.events.document(O.self), try service.events.document(D.self))
            let submissions = Submissions(older, setting: newer, of: service, forward, refusal: refusal)
            service.setHandler(SubmitDocument<O>.self) { try await submissions.answer($0, $1) }
        }
    }

    // MARK: Commands

    /// Maps a command of the older interface to one of the newer interface, whose handler runs.
    ///
    /// The caller has to meet the requirements of both. An idempotent command is mapped to an idempotent one, and gives
    /// it its key: then a retry is a repetition, even of a call that came by the newer command with that key.
    ///
    /// - Parameter command: the command of the older interface.
    /// - Parameter map: makes the command of the newer one. It can throw a refusal of the older command.
    /// - Parameter reply: makes the older command's reply.
    /// - Parameter refusal: makes the older command's refusal; nil if it has none, then the caller gets
    ///   `.invalidArgument`. Defaults to the refusal of the same name.
    /// - Parameter progress: makes the older command's progress; nil reports nothing.
    public mutating func command<O: Command<Old>, N: Command<New>>(
        _ command: O.Type, to map: @escaping @Sendable (O) throws -> N,
        reply: @escaping @Sendable (N.Reply) throws -> O.Reply,
        refusal: @escaping @Sendable (N.Refusal) -> O.Refusal? = {
            O.Refusal(errorName: $0.errorName, message: $0.message)
        },
        progress: (@Sendable (N.Progress) -> O.Progress?)? = nil
    ) {
        parts.note(ObjectIdentifier(command), O.name)
        if command is any IdempotentCommand.Type && !(N.self is any IdempotentCommand.Type) {
            parts.faults.append("\(O.name) is idempotent, and \(N.name), to which it is mapped, is not")
        }
        let mapped = MappedCommand(map: map, reply: reply, refusal: refusal, progress: progress)
        parts.commands[ObjectIdentifier(command)] = OlderCommand(
            requirement: N.requirement, install: { try mapped.install(on: $0) })
    }
    /// Maps a command of the older interface to one of the newer interface with the same reply.
    ///
    /// - Parameter command: the command of the older interface.
    /// - Parameter map: makes the command of the newer one. It can throw a refusal of the older command.
    /// - Parameter refusal: makes the older command's refusal; nil if it has none. Defaults to the refusal of the same
    ///   name.
    /// - Parameter progress: makes the older command's progress; nil reports nothing.
    public mutating func command<O: Command<Old>, N: Command<New>>(
        _ command: O.Type, to map: @escaping @Sendable (O) throws -> N,
        refusal: @escaping @Sendable (N.Refusal) -> O.Refusal? = {
            O.Refusal(errorName: $0.errorName, message: $0.message)
        },
        progress: (@Sendable (N.Progress) -> O.Progress?)? = nil
    ) where O.Reply == N.Reply {
        self.command(command, to: map, reply: { $0 }, refusal: refusal, progress: progress)
    }
    /// A command of the older interface that is answered by a handler of its own, as any command.
    ///
    /// - Parameter command: the command of the older interface.
    public mutating func ownHandler<O: Command<Old>>(for command: O.Type) {
        parts.note(ObjectIdentifier(command), O.name)
        parts.others.insert(ObjectIdentifier(command))
    }

    // MARK: Checks

    /// What is wrong, or was forgotten.
    var fault: String? {
        var faults = parts.faults
        func missing(_ types: [(ObjectIdentifier, String)], _ what: String, _ advice: String) {
            let names = types.filter { id, _ in
                parts.events[id] == nil && parts.documents[id] == nil && parts.commands[id] == nil
                    && !parts.others.contains(id)
            }
            if names.isEmpty { return }
            faults.append(
                "\(names.map(\.1).joined(separator: ", ")) \(names.count == 1 ? "is" : "are") not mapped: \(advice)")
        }
        let (new, old) = (New.contract, Old.contract)
        missing(
            new.events.map { (ObjectIdentifier($0), "\(New.name).\($0.name)") }, "event", "map it, or use nothing(for:)"
        )
        missing(
            old.members.compactMap { member in
                if case .command(let type) = member.kind {
                    (ObjectIdentifier(type), "\(Old.name).\(type.name)")
                } else {
                    nil
                }
            }, "command", "map it, or use ownHandler(for:)")
        let known = Set(new.events.map { ObjectIdentifier($0) } + old.commands.map { ObjectIdentifier($0) })
        let mapped = Set(parts.events.keys).union(parts.documents.keys).union(parts.commands.keys).union(parts.others)
        if !mapped.isSubset(of: known) { faults.append("something is mapped that its contract does not list") }
        return faults.isEmpty ? nil : faults.joined(separator: "; ")
    }
}
