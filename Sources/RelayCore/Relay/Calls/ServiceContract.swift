import Synchronization
import RelayWire

/// What a service has reported of its interfaces: how its commands are called.
final class ServiceContract: Sendable {
    let id: ContractID
    private let texts: [String: String]
    /// Those that were asked for.
    private let interfaces = Mutex<[String: Result<ContractText, RelayError>]>([:])

    init(_ id: ContractID, _ texts: [String: String]) { (self.id, self.texts) = (id, texts) }

    /// Throws `SchemaMismatch` for a text that this program cannot read, and `NotFound` for an interface that the
    /// service does not have.
    func interface(_ name: String) throws(RelayError) -> ContractText {
        guard let text = texts[name] else {
            throw RelayError(.notFound, "the service does not export \(name)")
        }
        let known = interfaces.withLock { interfaces in
            if let known = interfaces[name] { return known }
            let parsed = Result { () throws(RelayError) in
                do throws(RelayError) { return try ContractText(parsing: text) } catch {
                    throw RelayError(
                        .schemaMismatch,
                        "the service's contract of \(name) cannot be read: \(error.message); update this program",
                        cause: error)
                }
            }
            interfaces[name] = parsed
            return parsed
        }
        return try known.get()
    }
}

extension ServiceContract: Hashable {
    static func == (a: ServiceContract, b: ServiceContract) -> Bool { a === b || a.id == b.id }
    func hash(into hasher: inout Hasher) { hasher.combine(id) }
}
