/// Asks a running service for a contract, on a connection of its own.
final class ServiceInquiry: BusHandler {
    func signal(_ message: borrowing ReceivedMessage) {}
    func methodCall(_ call: IncomingCall) {}
    func disconnected(_ reason: RelayError) {}

    static func contract(of interface: String, _ service: String, on bus: Bus) async throws -> ContractText {
        try BusNames.check(service, as: .busName)
        try BusNames.check(interface, as: .interface)
        let loop = try BusLoop(name: "inquiry")
        defer { loop.stop() }
        let handler = ServiceInquiry()
        let connection = try await BusConnection.connect(to: bus, on: loop, handler: handler)
        defer { withExtendedLifetime(handler) { connection.close() } }
        let reply = try await connection.call(
            MethodCall(
                to: service, path: Stream1.path(of: interface), interface: Stream1.name, member: "Contract",
                signature: .empty, body: []))
        let contracts = try reply.read(Stream1.contractSignature) { try Stream1.readContract(&$0).contracts }
        guard let text = contracts[interface] else {
            throw RelayError(.notFound, "\(service) has no interface \(interface)")
        }
        return try ContractText(parsing: text)
    }
}
