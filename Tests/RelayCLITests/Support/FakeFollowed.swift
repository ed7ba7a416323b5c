import RelayCore
import RelayTool
import Synchronization

@testable import relay_cli
import RelayWire

/// A service that is there, or not, and tells what a test wants once somebody follows or subscribes.
final class FakeFollowed: FollowedService {
    let service: FakeService
    let isThere: Bool
    let events: [Envelope]
    let subscribing: @Sendable (String, Set<String>?, StreamPosition) throws(CLIFailure) -> any PulledEvents
    let deliver: @Sendable (WatchInput) -> Void
    let selections = Mutex<[EventSelection]>([])

    init(
        _ service: FakeService, isThere: Bool = true, events: [Envelope] = [],
        subscribing: @escaping @Sendable (String, Set<String>?, StreamPosition) throws(CLIFailure) -> any PulledEvents =
            {
                (_, _, _) throws(CLIFailure) in throw CLIFailure(.software, "not to be asked")
            },
        deliver: @escaping @Sendable (WatchInput) -> Void = { _ in }
    ) {
        (self.service, self.isThere, self.events, self.deliver) = (service, isThere, events, deliver)
        self.subscribing = subscribing
    }
    func activate() {}
    func invalidate() {}
    func follow(_ selection: EventSelection) async {
        selections.withLock { $0.append(selection) }
        for event in events where selection.names[event.interface] != nil { deliver(.event(event)) }
    }
    func subscribe(
        interface: String, names: Set<String>?, from start: StreamPosition, onNews: @escaping @Sendable () -> Void
    ) throws(CLIFailure) -> any PulledEvents {
        try subscribing(interface, names, start)
    }
    func call(_ call: OutgoingCall, timeout: Duration) async throws -> IncomingReply {
        if !isThere { throw ServiceAbsent(failure: CLIFailure(.unavailable, "no service")) }
        return try await service.call(call, timeout: timeout)
    }
}

/// Deliveries that are all there at once, and what was acknowledged of them.
final class FakePulled: PulledEvents {
    let waiting: Mutex<ArraySlice<PulledDelivery>>
    let acknowledged = Mutex<[UInt64]>([])
    let isCancelled = Mutex(false)
    /// Whether its place cannot be kept.
    let isLost: Bool
    var hasUnwrittenPlace: Bool { isLost && isCancelled.withLock { $0 } }
    /// Called when something is acknowledged.
    let onAcknowledgement = Mutex<(@Sendable () -> Void)?>(nil)

    init(_ deliveries: [PulledDelivery], isLost: Bool = false) {
        self.isLost = isLost
        waiting = Mutex(deliveries[...])
    }
    func next() -> PulledDelivery? { waiting.withLock { $0.popFirst() } }
    func acknowledge(_ delivery: PulledDelivery) {
        switch delivery {
        case .event(let event): acknowledged.withLock { $0.append(event.stamp.sequence) }
        case .gap(let gap): acknowledged.withLock { $0.append(gap.sequences.upperBound) }
        case .caughtUp: break
        }
        onAcknowledgement.withLock { $0 }?()
    }
    func cancel() { isCancelled.withLock { $0 = true } }
}

/// A service whose objects answer Introspect, and whose other methods answer what they are told to.
final class FakeService: ServiceCaller {
    let objects: [String: String]
    let answer: @Sendable (OutgoingCall) throws -> IncomingReply
    private let log = Mutex<[OutgoingCall]>([])

    var calls: [OutgoingCall] { log.withLock { $0 } }

    init(
        objects: [String: String] = Samples.objects,
        answer: @escaping @Sendable (OutgoingCall) throws -> IncomingReply = { call in
            throw CLIFailure(.software, "not expected: \(call.member)")
        }
    ) {
        (self.objects, self.answer) = (objects, answer)
    }

    func call(_ call: OutgoingCall, timeout: Duration) async throws -> IncomingReply {
        log.withLock { $0.append(call) }
        guard call.member == "Introspect" else { return try answer(call) }
        guard let xml = objects[call.path] else { throw CLIFailure(.software, "no object '\(call.path)'") }
        return IncomingReply(signature: "s", body: try Samples.body { try $0.string(xml) })
    }
}

/// For expectations: the same inputs in the same order.
func == (first: [WatchInput], second: [WatchInput]) -> Bool { first.map(\.text) == second.map(\.text) }

extension WatchInput {
    fileprivate var text: String {
        switch self {
        case .event(let event): "\(event)"
        case .gap(let interface, let gap): "gap of \(interface): \(gap)"
        case .state(let state): "\(state)"
        case .outage(let message): "outage: \(message)"
        }
    }
}
