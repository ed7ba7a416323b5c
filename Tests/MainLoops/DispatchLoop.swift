import Dispatch
import Foundation
import RelayCore
import Relocation

/// A window on the main actor.
@MainActor final class BoxList: DocumentView {
    private let relay: EventRelay
    private let inventory = LocalDocument(Inventory.initial)
    private let following: Subscription

    init(_ relay: EventRelay) throws {
        self.relay = relay
        following = try relay.follow(Inventory.self, into: inventory) { report($0.message) }
        relay.publisher.subscribe(self, to: BoxProvisioned.self) { _, box in
            report("event \(box.title)")
        } onGap: { _, gap in
            report("\(gap)")
        }
        inventory.addView(self, key: "list")
    }
    func show(_ inventory: Inventory) { report(text(inventory)) }
    func order(_ label: String) {
        Task {
            let outcome = await relay.outcome(of: OrderBox(label: label, capacity: 10))
            report(text(outcome))
        }
    }
}

@MainActor func makeList(_ bus: Bus) throws -> BoxList {
    let relay = try EventRelay(
        following: "org.eventrelay.Service1", on: bus, interfaces: Relocation1.self, Inventory1.self,
        delivery: .queue(.main))
    let list = try BoxList(relay)
    relay.activate()
    return list
}

/// Foundation's main loop runs the main queue on the main thread.
@MainActor func runRunLoop(_ bus: Bus) throws {
    let list = try makeList(bus)
    list.order("Kitchen")
    withExtendedLifetime(list) { RunLoop.main.run() }
}

/// `dispatchMain()` gives the main thread up. On Linux the main queue then runs on libdispatch's other threads.
@MainActor func runDispatchMain(_ bus: Bus) throws {
    Place.markMainQueue()
    let list = try makeList(bus)
    list.order("Kitchen")
    withExtendedLifetime(list) { dispatchMain() }
}
