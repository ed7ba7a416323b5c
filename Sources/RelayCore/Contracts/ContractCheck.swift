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
        return try await ServiceInquiry.contract(of: I.name, service, on: bus).changes(to: new)
    }
}
