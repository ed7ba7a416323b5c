import RelayCore
import RelayTool
import RelayWire

/// The contracts that a running service reports.
struct ServiceContracts {
    let caller: any ServiceCaller
    let service: String
    let timeout: Duration

    /// In the order of the interfaces' names. Throws `ServiceAbsent` or `CLIFailure`.
    func all() async throws -> [ContractText] {
        // Each object of a service answers for all of them.
        let catalogue = try await Discovery(caller: caller, timeout: timeout, service: service).catalogue()
        guard let entry = catalogue.offered.first else { return [] }
        let reply = try await caller.call(
            OutgoingCall(path: entry.path, interface: Stream1.name, member: "Contract", signature: "", body: []),
            timeout: timeout)
        guard reply.signature == Stream1.contractSignature else {
            throw CLIFailure(.software, "'\(service)' answers Contract with '\(reply.signature)'")
        }
        do {
            let contracts = try reply.body.withUnsafeBytes { bytes in
                var reader = WireReader(bytes)
                return try Stream1.readContract(&reader).contracts
            }
            return try contracts.sorted { $0.key < $1.key }.map { try ContractText(parsing: $0.value) }
        } catch {
            throw CLIFailure(
                .software,
                "'\(service)' answers Contract with no contract: \((error as? RelayError)?.message ?? "\(error)")")
        }
    }
}
