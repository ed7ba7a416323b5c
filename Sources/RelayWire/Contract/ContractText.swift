/// The contract of one interface without its Swift types: what a contract file holds, what `Contract()` returns, and
/// what is compared.
///
/// ```
/// relay-contract 1
/// interface org.example.shop.Orders1
/// durable
/// requires same-user
///
/// event OrderPlaced
///     field orderID x
///     field total|sum x
/// ```
///
/// What does not change what programs can read, send or rely on is not in it: descriptions, retention, sizes of rings.
///
/// `description` is the text.
public struct ContractText: Sendable, CustomStringConvertible {
    /// The interface's name.
    public let name: String
    /// Whether a journal keeps the events.
    public let isDurable: Bool
    /// Which peers may call and subscribe.
    public let requirement: PeerRequirement
    /// The events, in the order of their names.
    public let events: [ContractEvent]
    /// The documents, in the order of their names.
    public let documents: [ContractDocument]
    /// The commands, in the order of their names.
    public let commands: [ContractCommand]
    public var description: String { text }

    package init(
        name: String, isDurable: Bool, requirement: PeerRequirement = .sameUser, events: [ContractEvent] = [],
        documents: [ContractDocument] = [], commands: [ContractCommand] = []
    ) {
        (self.name, self.isDurable, self.requirement) = (name, isDurable, requirement)
        self.events = events.sorted { $0.name < $1.name }
        self.documents = documents.sorted { $0.name < $1.name }
        self.commands = commands.sorted { $0.name < $1.name }
    }
    /// All that can be called: the commands, and those that submit editable documents.
    package var calls: [ContractCommand] {
        (commands + documents.compactMap(\.submitCommand)).sorted { $0.name < $1.name }
    }
}

/// Two contracts are equal if their texts are.
extension ContractText: Hashable {
    public static func == (a: Self, b: Self) -> Bool { a.text == b.text }
    public func hash(into hasher: inout Hasher) { hasher.combine(text) }
}

/// An event in a contract.
public struct ContractEvent: Sendable {
    /// The event's name.
    public let name: String
    /// The event's fields, in the order in which they travel.
    public let fields: [WireField]
    package let isFixedLayout: Bool

    package init(name: String, fields: [WireField], isFixedLayout: Bool = false) {
        (self.name, self.fields, self.isFixedLayout) = (name, fields, isFixedLayout)
    }
}

/// A document in a contract.
public struct ContractDocument: Sendable {
    /// The document's name.
    public let name: String
    /// The document's fields, in the order in which they travel.
    public let fields: [WireField]
    /// nil: its service alone sets it.
    package let submission: ContractSubmission?

    package init(name: String, fields: [WireField], submission: ContractSubmission? = nil) {
        (self.name, self.fields, self.submission) = (name, fields, submission)
    }
    /// Whether other processes may submit it.
    public var isEditable: Bool { submission != nil }
    /// The command that submits it: the text leaves out what follows from the document. nil: it is not editable.
    package var submitCommand: ContractCommand? {
        submission.map { submission in
            ContractCommand(
                name: "Submit\(name)",
                arguments: [
                    WireField(name: "state", type: .structure(fields)), WireField(name: "epoch", type: .uint64),
                    WireField(name: "sequence", type: .uint64),
                    WireField(name: "idempotencyKey", type: .optional(.string)),
                ],
                reply: [WireField(name: "epoch", type: .uint64), WireField(name: "sequence", type: .uint64)],
                requirement: submission.requirement, key: .field("idempotencyKey"),
                refusals: submission.refusals.adding(["Conflict", "Forgotten"]))
        }
    }
}

/// How others change a document.
package struct ContractSubmission: Sendable {
    /// Whom it is permitted; nil: as the interface's.
    package let requirement: PeerRequirement?
    package let refusals: ContractRefusals

    package init(requirement: PeerRequirement? = nil, refusals: ContractRefusals = ContractRefusals()) {
        (self.requirement, self.refusals) = (requirement, refusals)
    }
}

/// A command in a contract.
public struct ContractCommand: Sendable {
    /// How a repetition is recognised.
    package enum Key: Hashable, Sendable {
        case none
        case field(String)
        /// Of other fields, by code that a contract does not show.
        case derived
    }
    /// The command's name.
    public let name: String
    /// The command's arguments, in the order in which they travel.
    public let arguments: [WireField]
    /// The fields of the reply.
    public let reply: [WireField]
    /// nil: it reports nothing.
    package let progress: [WireField]?
    /// Whom it is permitted; nil: as the interface's.
    package let requirement: PeerRequirement?
    package let isCancellable: Bool
    package let key: Key
    package let refusals: ContractRefusals

    package init(
        name: String, arguments: [WireField] = [], reply: [WireField] = [], progress: [WireField]? = nil,
        requirement: PeerRequirement? = nil, isCancellable: Bool = false, key: Key = .none,
        refusals: ContractRefusals = ContractRefusals()
    ) {
        (self.name, self.arguments, self.reply, self.progress) = (name, arguments, reply, progress)
        (self.requirement, self.isCancellable) = (requirement, isCancellable)
        (self.key, self.refusals) = (key, refusals)
    }
}

/// The names of the refusals that a command declares.
package struct ContractRefusals: Hashable, Sendable {
    /// In their own order.
    package let names: [String]
    /// There may be others: the type of the refusals is not `CaseIterable`.
    package let isOpen: Bool

    package init(_ names: [String] = [], isOpen: Bool = false) {
        (self.names, self.isOpen) = (Set(names).sorted(), isOpen)
    }
    func adding(_ more: [String]) -> Self { Self(names + more, isOpen: isOpen) }
}
