import RelayCore
import RelayWire

extension ServiceCaller {
    /// The id of the contract that the service has now, for a call that runs under it or not at all; nil for a service
    /// that does not report it.
    ///
    /// - Parameter path: of any object of the service.
    func contract(at path: String, timeout: Duration) async throws -> ContractID? {
        let question = OutgoingCall(path: path, interface: Stream1.name, member: "Contract", signature: "", body: [])
        do {
            let reply = try await call(question, timeout: timeout)
            guard reply.signature == Stream1.contractSignature else { return nil }
            return reply.body.withUnsafeBytes { body in
                var reader = WireReader(body)
                return try? Stream1.readContract(&reader).id
            }
        } catch let failure as CLIFailure where failure.isReply {
            return nil
        }
    }
}
