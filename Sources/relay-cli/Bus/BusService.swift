import RelayCore
import RelayTool
import Synchronization
import RelayWire

/// The service as the library's relay sees it.
final class BusService: FollowedService {
    private let service: String
    private let bus: Bus
    private let relay: EventRelay
    /// nil: calls start nothing.
    private let start: StartWatch?
    private let deliver: @Sendable (WatchInput) -> Void
    /// What is followed, by interface.
    private let followed = Mutex<[String: LiveEvents]>([:])
    private let subscriptions: [Subscription]

    /// `start` watches the service's unit while a call starts it; nil: calls start nothing.
    ///
    /// `deliver` is called on the bus's thread, and must not wait. Throws `.usage` for a name that is none, `.software`
    /// when the process has no thread or descriptor left.
    init(
        _ service: String, on choice: BusChoice, start: StartWatch?, cursors: String? = nil,
        note: @escaping @Sendable (String) -> Void = { _ in },
        deliver: @escaping @Sendable (WatchInput) -> Void
    ) throws(CLIFailure) {
        (self.service, self.start, self.deliver) = (service, start, deliver)
        bus = Bus(choice)
        do {
            relay = try EventRelay(
                following: service, on: bus, delivery: .immediate, activation: start == nil ? .ifRunning : .onDemand,
                cursors: cursors, cursorNamespace: "relay-cli",
                // What it reports comes as events, too, in their order.
                onNotice: { _ in })
            let publisher = relay.publisher
            subscriptions = [
                publisher.subscribe(to: EventRelay.State.self) { state in
                    if let state = ServiceState(state) { deliver(.state(state)) }
                } onGap: { _ in
                },
                publisher.subscribe(to: EventRelay.CursorFailure.self) { failure in
                    note("the place of '\(failure.name)': \(failure.error.message)")
                } onGap: { _ in
                },
                publisher.subscribe(to: EventRelay.ConnectionFailure.self) { failure in
                    // This program's own trouble is said at once; what else it means, its verb knows.
                    let (message, isOwn) = (failure.error.message, failure.error.cause is SystemError)
                    if isOwn { note(message) } else { deliver(.outage(message)) }
                } onGap: { _ in
                },
            ]
        } catch {
            let error = error as? RelayError
            throw CLIFailure(error?.code == .invalidArgument ? .usage : .software, error?.message ?? "no bus thread")
        }
    }

    func activate() { relay.activate() }
    func invalidate() { relay.invalidate() }

    func follow(_ selection: EventSelection) async {
        for (interface, names) in selection.names { follow(interface, names) }
        // The relay has asked to be attached; the service answers what is asked of an object in order.
        for interface in selection.names.keys {
            _ = try? await relay.call(
                path: Stream1.path(of: interface), interface: Stream1.name, member: "Schemas", timeout: .seconds(5))
        }
    }
    private func follow(_ interface: String, _ names: Set<String>?) {
        followed.withLock { followed in
            if let present = followed[interface], present.names == names { return }
            // Only a name that is none is refused, and the service has described itself by it.
            followed[interface] = try? LiveEvents(of: interface, named: names, relay, deliver)
        }
    }

    func subscribe(
        interface: String, names: Set<String>?, from start: StreamPosition, onNews: @escaping @Sendable () -> Void
    ) throws(CLIFailure) -> any PulledEvents {
        do {
            return PulledEnvelopes(
                try relay.polledEnvelopes(of: interface, named: names, from: start, onNews: onNews))
        } catch {
            throw FailureMapping.failure(ofCursor: error)
        }
    }

    func call(_ call: OutgoingCall, timeout: Duration) async throws -> IncomingReply {
        do {
            let signature = try Signature(call.signature)
            let send = { @Sendable [relay] in
                try await relay.call(
                    path: call.path, interface: call.interface, member: call.member, signature: signature,
                    body: call.body, timeout: timeout)
            }
            // A command that was sent to a service that left since may have run: only its answer ends the wait.
            let watch = FailureMapping.isQuestion(call.interface) ? start : nil
            let reply = if let watch { try await watch.run(send) } else { try await send() }
            return IncomingReply(signature: reply.signature, body: reply.body)
        } catch let error as StartFailure {
            throw cannotStart(error.reason)
        } catch let error as RelayError {
            if let other = await outcome(ofStart: error, calling: call, timeout: timeout) { throw other }
            let failure = FailureMapping.failure(
                error, service: service, interface: call.interface, member: call.member, timeout: timeout)
            switch (error.cause as? RemoteError)?.name {
            case "org.freedesktop.DBus.Error.ServiceUnknown", "org.freedesktop.DBus.Error.NameHasNoOwner":
                throw ServiceAbsent(failure: .absent(service, on: bus))
            // It left with the call unanswered.
            case "org.freedesktop.DBus.Error.NoReply": throw ServiceAbsent(failure: failure)
            case _ where error.code == .limitsExceeded: throw ServiceBusy(failure: failure)
            default: throw failure
            }
        }
    }
    private func cannotStart(_ reason: UnitProbe.Reason) -> ServiceAbsent {
        ServiceAbsent(failure: .cannotStart(service, on: bus, reason), cannotStart: true)
    }
    /// What to throw in place of an error that the service's start brought about; nil: it is of another kind.
    private func outcome(
        ofStart error: RelayError, calling call: OutgoingCall, timeout: Duration
    ) async -> (any Error)? {
        guard let start, FailureMapping.isQuestion(call.interface) else { return nil }
        let name = (error.cause as? RemoteError)?.name ?? ""
        let isOfStart =
            name.hasPrefix("org.freedesktop.DBus.Error.Spawn.") || name.hasPrefix("org.freedesktop.systemd1.")
        if isOfStart, let remote = error.cause as? RemoteError {
            return cannotStart(await start.reason(afterFailure: remote.message))
        }
        let isLate = name.hasSuffix(".Error.TimedOut") || (error.code == .timedOut && error.cause == nil)
        guard isLate || name.hasSuffix(".Error.NameHasNoOwner") else { return nil }
        switch await start.standing() {
        case .fails(let reason): return cannotStart(reason)
        case .starts(let progress) where isLate:
            return CLIFailure(
                .timedOut,
                "\(call.member): '\(service)' has not started within \(timeout): \(progress), or wait longer with "
                    + "--timeout SECONDS")
        case .starts, .unknown: return nil
        }
    }
}

extension ServiceState {
    /// nil: nothing to report.
    fileprivate init?(_ state: EventRelay.State) {
        switch state {
        case .active: self = .active
        case .interrupted: self = .interrupted
        case .invalidated(let error):
            // What the service claims of itself is no value of ours.
            let code = error.code == .schemaMismatch ? .software : FailureMapping.exitCode(error.code)
            self = .invalidated(CLIFailure(code, error.message))
        case .connecting: return nil
        }
    }
}
