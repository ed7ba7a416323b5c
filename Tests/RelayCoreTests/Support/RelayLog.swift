import RelayTestKit
import Synchronization
import Testing

@testable import RelayCore

/// What a relay tells of `Plain1`, as text, in its order.
final class RelayLog: Sendable {
    let relay: EventRelay
    private let lines = Mutex<[String]>([])
    private let subscriptions = Mutex<[Subscription]>([])

    /// - Parameter isOnSignals: events come as signals only.
    init(
        _ bus: Bus, requiring requirement: PeerRequirement = .anyone, isSubscribed: Bool = true,
        isOnSignals: Bool = false, timing: RelayTiming = RelayTiming()
    ) throws {
        relay = try EventRelay(
            following: Desk.name, on: bus, interfaces: Plain1.self, requiring: requirement,
            usesRings: !isOnSignals, timing: timing)
        let note: @Sendable (String) -> Void = { [weak self] line in self?.lines.withLock { $0.append(line) } }
        var all = [
            relay.publisher.subscribe(to: EventRelay.State.self, delivery: .immediate) { state in
                switch state {
                case .connecting: note("connecting")
                case .active: note("active")
                case .interrupted: note("interrupted")
                case .invalidated(let error): note("invalidated \(error.code.rawValue)")
                }
            } onGap: { _ in
            }
        ]
        if isSubscribed {
            all.append(
                relay.publisher.subscribe(to: Said.self, delivery: .immediate) {
                    note("\($0.number)")
                } onGap: { gap in
                    let upper = gap.sequences.upperBound == .max ? "" : "\(gap.sequences.upperBound)"
                    note("gap \(gap.sequences.lowerBound)-\(upper) \(gap.reason.rawValue)")
                })
        }
        subscriptions.withLock { $0 = all }
    }
    /// Connects, and waits until the relay knows that nobody has the service's name: from then on it misses nothing.
    func activate() async {
        relay.activate()
        #expect(await eventually { await isWaitingForService() })
    }
    private func isWaitingForService() async -> Bool {
        do {
            _ = try await relay.follower.call(interface: Plain1.name, member: "Nothing")
            return false
        } catch {
            let error = error as? RelayError
            let name = (error?.cause as? RemoteError)?.name ?? ""
            return ["ServiceUnknown", "NameHasNoOwner"].contains { name == "org.freedesktop.DBus.Error." + $0 }
                || error?.message.hasPrefix("\(Desk.name) is not running") == true
        }
    }
    var all: [String] { lines.withLock { $0 } }
    func wait(for line: String, count: Int = 1) async -> Bool {
        await eventually { all.filter { $0 == line }.count >= count }
    }
    func unsubscribe() { subscriptions.withLock { $0 = [] } }
}
