import RelayCore

extension EventRelay {
    /// One that follows a service from now on.
    static func active(_ service: String, _ bus: Bus, _ interface: any EventInterface.Type) throws -> EventRelay {
        let relay = try EventRelay(following: service, on: bus, interfaces: interface)
        relay.activate()
        return relay
    }
}
/// How a body failed; nil: it did not.
func relayFailure(_ body: () async throws -> Void) async -> RelayError? {
    do {
        try await body()
        return nil
    } catch { return error as? RelayError }
}
