/// A difference between two versions of a contract, and what the difference means.
///
/// ``ContractCheck`` finds them.
public struct ContractChange: Hashable, Sendable, CustomStringConvertible {
    /// What a difference means. More may be added: compare kinds, and never switch over them without a default.
    public struct Kind: RawRepresentable, Hashable, Sendable {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }
        /// Programs with this contract cannot read an event that the other version wrote.
        public static let cannotRead = Self(rawValue: "CannotRead")
        /// Programs of the other version cannot read an event that this contract writes.
        public static let cannotBeRead = Self(rawValue: "CannotBeRead")
        /// A command takes or returns other types. Calls of the other version are refused, or their replies cannot be
        /// decoded.
        public static let commandChanged = Self(rawValue: "CommandChanged")
        /// A command of the other version is not in this contract.
        public static let commandRemoved = Self(rawValue: "CommandRemoved")
        /// An event of the other version is not in this contract, so it is no longer published.
        public static let eventRemoved = Self(rawValue: "EventRemoved")
        /// An event or a command of this contract is not in the other version.
        public static let added = Self(rawValue: "Added")
    }
    /// What the difference means.
    public let kind: Kind
    /// The event or the command.
    public let member: String
    /// A sentence that says which field differs, how it differs, and what to do.
    public let message: String
    /// Whether something that works with the other version would fail.
    public var breaks: Bool { kind != .added && kind != .eventRemoved }

    package init(_ kind: Kind, _ member: String, _ message: String) {
        (self.kind, self.member, self.message) = (kind, member, message)
    }
    public var description: String { "\(kind.rawValue): \(message)" }
}

/// An interface as another version of a program has it, or has left it.
package struct ContractRecord: Sendable {
    package struct Command: Hashable, Sendable {
        package let input, output: String
        package init(input: String, output: String) { (self.input, self.output) = (input, output) }
    }
    package struct Event: Sendable {
        /// As the newest version has it.
        package let present: EventSchema
        /// Those of which there may still be events.
        package let kept: [EventSchema]
        package init(present: EventSchema, kept: [EventSchema]) { (self.present, self.kept) = (present, kept) }
    }
    package var events: [String: Event]
    /// nil: nothing is known of them.
    package var commands: [String: Command]?
    package init(events: [String: Event], commands: [String: Command]?) {
        (self.events, self.commands) = (events, commands)
    }
}

/// Compares a contract with a journal or a running service, and names what would break.
///
/// Run it in a test, against the journal or the service of the previous release:
///
/// ```swift
/// let changes = try await ContractCheck.changes(of: Printing1.self, fromService: "org.example.Printer")
/// #expect(changes.filter(\.breaks).isEmpty)
/// ```
public enum ContractCheck {
    /// Compares a contract with a running service.
    ///
    /// - Parameter interface: the contract, as this program has it.
    /// - Parameter service: the bus name of the service.
    /// - Parameter bus: the bus that it is on.
    /// - Returns: all differences, by member.
    /// - Throws: `.notFound` if the service lacks the interface, `.unavailable` if there is no service,
    ///   `.unsupportedType` for a contract that D-Bus cannot carry, `.notPermitted`, `.timedOut`.
    public static func changes<I: EventInterface>(
        of interface: I.Type, fromService service: String, on bus: Bus = .session
    ) async throws -> [ContractChange] {
        let record = try await ServiceInquiry.record(of: I.name, service, on: bus)
        return try changes(of: interface, from: record)
    }

    package static func changes<I: EventInterface>(
        of interface: I.Type, from record: ContractRecord
    ) throws -> [ContractChange] {
        try I.contract.checkNames()
        var changes: [ContractChange] = []
        func compare<E: DomainEvent>(_ event: E.Type) throws {
            changes += Self.changes(of: E.name, try WireCodec(event: event).schema, record.events[E.name])
        }
        for event in I.contract.events { try compare(event) }
        let events = Set(I.contract.events.map { $0.name })
        for name in record.events.keys where !events.contains(name) {
            changes.append(
                ContractChange(.eventRemoved, name, "the event \(name) is gone: whoever waits for it waits in vain"))
        }
        if let commands = record.commands { changes += try Self.changes(of: interface, commands) }
        return changes.sorted { ($0.member, $0.kind.rawValue) < ($1.member, $1.kind.rawValue) }
    }
    private static func changes(
        of name: String, _ schema: WireSchema, _ other: ContractRecord.Event?
    ) -> [ContractChange] {
        guard let other else { return [ContractChange(.added, name, "the event \(name) is new")] }
        var changes: [ContractChange] = []
        var faults: Set<String> = []
        for kept in other.kept + [other.present] {
            do throws(RelayError) {
                _ = try WireTranslation(from: kept.fields, to: schema.fields, .reading, of: name)
            } catch {
                if faults.insert(error.message).inserted {
                    changes.append(
                        ContractChange(.cannotRead, name, "this program reads the other's: \(error.message)"))
                }
            }
        }
        do throws(RelayError) {
            _ = try WireSchema(fields: other.present.fields)
            _ = try WireTranslation(from: schema.fields, to: other.present.fields, .reading, of: name)
        } catch {
            changes.append(ContractChange(.cannotBeRead, name, "the other program reads this one's: \(error.message)"))
        }
        return changes
    }
    private static func changes<I: EventInterface>(
        of interface: I.Type, _ others: [String: ContractRecord.Command]
    ) throws -> [ContractChange] {
        var (changes, names): ([ContractChange], Set<String>) = ([], [])
        func compare<C: Command>(_ command: C.Type) throws {
            names.insert(C.name)
            let own = ContractRecord.Command(
                input: try WireCodec(C.self).schema.signature, output: try WireCodec(C.Reply.self).schema.signature)
            guard let other = others[C.name] else {
                changes.append(ContractChange(.added, C.name, "the command \(C.name) is new"))
                return
            }
            if own.input != other.input {
                changes.append(
                    ContractChange(
                        .commandChanged, C.name,
                        "\(C.name) takes '\(own.input)', and took '\(other.input)': give the new one another name"))
            }
            if own.output != other.output {
                changes.append(
                    ContractChange(
                        .commandChanged, C.name,
                        "\(C.name) returns '\(own.output)', and returned '\(other.output)': give the new one another name"
                    ))
            }
        }
        for command in I.contract.commands { try compare(command) }
        for name in others.keys where !names.contains(name) {
            changes.append(
                ContractChange(.commandRemoved, name, "the command \(name) is gone: calls of it are refused"))
        }
        return changes
    }
}
