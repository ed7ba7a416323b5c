/// Follows a service's name and the streams of its interfaces, without knowing their Swift types.
///
/// - Order: events, gaps and states come in one order, each in its place; calls are sent in the order of `call` and `follow`.
/// - Isolation: the sink is called on the loop's thread; everything else may be called from any thread.
/// - Loss: what the bus did not bring is a gap; see `LaneMachine`.
/// - Cancellation: `invalidate()`, or release.
package final class ServiceFollower: Sendable {
    let core: FollowerCore
    let loop: BusLoop

    /// Nothing happens before `activate()`. Throws `InvalidArgument` for a service name that is none.
    package init(
        service: String, on bus: Bus, requiring requirement: PeerRequirement = .anyone,
        activation: EventRelay.Activation = .onDemand, sink: any FollowerSink
    ) throws {
        try BusNames.check(service, as: .busName)
        loop = try BusLoop(name: "relay")
        core = FollowerCore(service, bus, requirement, activation, sink, loop)
    }
    /// As above, with everything told to a closure.
    package convenience init(
        service: String, on bus: Bus, activation: EventRelay.Activation = .ifRunning,
        deliver: @escaping @Sendable (FollowerOutput) -> Void
    ) throws {
        try self.init(service: service, on: bus, activation: activation, sink: FollowerClosureSink(deliver))
    }
    deinit {
        core.invalidate { [loop] in loop.stop() }
    }

    /// Connects, and goes on doing so. Subscriptions made before it miss nothing.
    package func activate() { core.activate() }
    /// Ends it: no event, gap or state comes any more.
    package func invalidate() { core.invalidate() }
    /// Says which events of an interface are wanted, in place of what was said before; nil stands for all.
    package func follow(interface: String, names: Set<String>?) { core.follow(interface, names) }
    /// Calls a method of the service's object for an interface.
    package func call(
        interface: String, member: String, signature: Signature = .empty, body: [UInt8] = [],
        timeout: Duration = .seconds(25)
    ) async throws -> BusReply {
        try await call(
            path: Stream1.path(of: interface), interface: interface, member: member, signature: signature, body: body,
            timeout: timeout)
    }
    /// Calls a method at any of the service's objects: what introspection needs.
    package func call(
        path: String, interface: String, member: String, signature: Signature = .empty, body: [UInt8] = [],
        timeout: Duration = .seconds(25)
    ) async throws -> BusReply {
        let call = MethodCall(
            to: core.service, path: path, interface: interface, member: member, signature: signature, body: body)
        return try await core.call(call, timeout: timeout)
    }
    /// Signals that came from somebody else than the service's owner, and were dropped.
    package var foreignSignals: Int { core.foreignSignals }
}
