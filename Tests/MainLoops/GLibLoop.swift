import CGLib
import RelayCore
import RelayGLib
import Relocation

/// GLib's main loop, and so GTK's, runs the main actor.
@MainActor func runGLib(_ bus: Bus) throws {
    let list = try makeList(bus)
    let attachment = MainActor.attach()
    press {
        MainActor.assumeIsolated {
            report("pressed")
            list.order("Kitchen")
        }
    }
    let loop = g_main_loop_new(nil, 0)
    withExtendedLifetime((list, attachment)) { g_main_loop_run(loop) }
    g_main_loop_unref(loop)
}

/// All of it runs on the thread that drains the target, whichever that is.
actor BoxWindow: DocumentView {
    nonisolated let target: PollableTarget
    nonisolated var unownedExecutor: UnownedSerialExecutor { target.asUnownedSerialExecutor() }
    private let relay: EventRelay
    private let inventory = LocalDocument(Inventory.initial)
    private let following: Subscription

    init(_ relay: EventRelay, _ target: PollableTarget) throws {
        (self.relay, self.target) = (relay, target)
        following = try relay.follow(Inventory.self, into: inventory) { report($0.message) }
        relay.publisher.subscribe(self, to: BoxProvisioned.self) { _, box in
            report("event \(box.title)")
        } onGap: { _, gap in
            report("\(gap)")
        }
        inventory.addView(self, key: "list", delivery: .pollable(target))
    }
    func show(_ inventory: Inventory) { report(text(inventory)) }

    /// From a callback of the loop's: it is on its thread already.
    nonisolated func pressed() { assumeIsolated { $0.order("Kitchen") } }
    private func order(_ label: String) {
        report("pressed")
        Task {
            let outcome = await relay.outcome(of: OrderBox(label: label, capacity: 10))
            report(text(outcome))
        }
    }
}

/// A loop of GLib's that need not be the main thread's.
func runGLibTarget(_ bus: Bus) throws {
    let target = try PollableTarget()
    let relay = try EventRelay(
        following: "org.eventrelay.Service1", on: bus, interfaces: Relocation1.self, Inventory1.self,
        delivery: .pollable(target))
    let window = try BoxWindow(relay, target)
    relay.activate()
    let attachment = target.attach()
    press { window.pressed() }
    let loop = g_main_loop_new(nil, 0)
    withExtendedLifetime((window, attachment)) { g_main_loop_run(loop) }
    g_main_loop_unref(loop)
}

/// In place of a button: GLib calls back once, from its loop.
private func press(_ pressed: @escaping @Sendable () -> Void) {
    final class Button: Sendable {
        let pressed: @Sendable () -> Void
        init(_ pressed: @escaping @Sendable () -> Void) { self.pressed = pressed }
    }
    g_idle_add(
        { button in
            // GLib gives it back with its only call.
            if let button { Unmanaged<Button>.fromOpaque(button).takeRetainedValue().pressed() }
            return 0  // G_SOURCE_REMOVE
        }, Unmanaged.passRetained(Button(pressed)).toOpaque())
}
