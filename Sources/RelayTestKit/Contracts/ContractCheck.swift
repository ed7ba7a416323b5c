public import RelayCore
import RelayJournal
public import RelayWire

/// Compares a contract with a running service or a journal, and names what would break.
///
/// ```swift
/// let changes = try await ContractCheck.changes(of: Printing1.self, fromService: "org.example.Printer")
/// #expect(changes.filter(\.breaks).isEmpty)
/// ```
///
/// For each build, ``ContractFile`` compares it with the file of the last release.
public enum ContractCheck {
    /// Compares a contract with that of a running service.
    ///
    /// - Parameter interface: the contract, as this program has it.
    /// - Parameter service: the bus name of the service, which has the old version.
    /// - Parameter bus: the bus that it is on.
    /// - Returns: all differences, by member.
    /// - Throws: `.notFound` if the service lacks the interface, `.unavailable` if there is no service,
    ///   `.unsupportedType` for a contract that D-Bus cannot carry, `.notPermitted`, `.timedOut`.
    public static func changes<I: EventInterface>(
        of interface: I.Type, fromService service: String, on bus: Bus = .session
    ) async throws -> [ContractChange] {
        let new = try ContractText(of: interface)
        let relay = try EventRelay(following: service, on: bus, interfaces: []) { _ in }
        relay.activate()
        defer { relay.invalidate() }
        guard let old = try await relay.contract(of: I.name) else {
            throw RelayError(.notFound, "\(service) has no interface \(I.name)")
        }
        return try old.changes(to: new)
    }
    /// Compares a contract with a journal. The result shows whether a service with this contract can continue to use
    /// the journal, and whether its subscribers can read the journal's events.
    ///
    /// The journal is only read, so its service may run meanwhile. Commands are not compared, because a journal keeps
    /// only events.
    ///
    /// - Parameter interface: the contract, as this program has it.
    /// - Parameter directory: the journal's folder.
    /// - Returns: all differences, by member. In a journal that has never had the interface, each event is
    ///   ``ContractChange/Kind/added``.
    /// - Throws: `.notFound` if there is no journal. `.unavailable` for a damaged file, `.invalidArgument` for another
    ///   program's file. `.unsupportedType` for a contract that D-Bus cannot carry.
    public static func changes<I: EventInterface>(
        of interface: I.Type, fromJournalIn directory: String
    ) throws -> [ContractChange] {
        try ContractText(of: interface).changes(fromStored: StoredContract.events(of: I.name, in: directory))
    }
}
