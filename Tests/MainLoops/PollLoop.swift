import Glibc
import RelayCore
import Relocation

/// Closures, on a loop of one's own around `poll`.
func runPoll(_ bus: Bus) throws -> Never {
    let target = try PollableTarget()
    let relay = try EventRelay(
        following: "org.eventrelay.Service1", on: bus, interfaces: Relocation1.self, Inventory1.self,
        delivery: .pollable(target))
    let boxes = relay.publisher.subscribe(to: BoxProvisioned.self) { box in
        report("event \(box.title)")
    } onGap: { gap in
        report("\(gap)")
    }
    let inventory = LocalDocument(Inventory.initial, delivery: .pollable(target))
    inventory.addView(key: "list") { report(text($0)) }
    let following = try relay.follow(Inventory.self, into: inventory) { report($0.message) }
    relay.activate()
    Task(executorPreference: target) {
        let outcome = await relay.outcome(of: OrderBox(label: "Kitchen", capacity: 10))
        report(text(outcome))
    }
    // The program's own descriptors are polled beside this one.
    var descriptors = [pollfd(fd: target.fileDescriptor, events: Int16(POLLIN), revents: 0)]
    while true {
        poll(&descriptors, nfds_t(descriptors.count), -1)
        if descriptors[0].revents != 0 { target.drain() }
        withExtendedLifetime((boxes, following)) {}
    }
}
