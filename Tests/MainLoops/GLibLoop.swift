import CGLib
import RelayCore
import Relocation

/// A window of a GTK program: all of it runs on GLib's thread, as a view controller does on the main actor.
actor BoxWindow: EventSubscriber, DocumentView {
    nonisolated let target: PollableTarget
    nonisolated var unownedExecutor: UnownedSerialExecutor { target.asUnownedSerialExecutor() }
    private let relay: EventRelay
    private let inventory = Document(Inventory.initial)
    private let following: Subscription

    init(_ relay: EventRelay, _ target: PollableTarget) throws {
        (self.relay, self.target) = (relay, target)
        following = try relay.follow(Inventory.self, into: inventory) { report($0.message) }
        relay.publisher.subscribe(self, delivery: .pollable(target))
        inventory.addView(self, key: "list", delivery: .pollable(target))
    }
    func on(_ box: BoxProvisioned) { report("event \(box.title)") }
    func onGap(_ gap: Gap) { report("\(gap)") }
    func show(_ inventory: Inventory) { report(text(inventory)) }

    /// From a callback of GLib's, such as a button's: it is on the loop's thread already.
    nonisolated func pressed() { assumeIsolated { $0.order("Kitchen") } }
    private func order(_ label: String) {
        report("pressed")
        Task {
            let outcome = await relay.outcome(of: OrderBox(label: label, capacity: 10))
            report(text(outcome))
        }
    }
}

extension PollableTarget {
    /// Has GLib's default main loop drain this. `g_source_remove` of the result ends that.
    func attachToGLib() -> guint {
        // GLib holds the target, and releases it when the source is removed.
        let reference = Unmanaged.passRetained(self).toOpaque()
        let drain: GUnixFDSourceFunc = { _, _, reference in
            if let reference { Unmanaged<PollableTarget>.fromOpaque(reference).takeUnretainedValue().drain() }
            return 1  // G_SOURCE_CONTINUE
        }
        let release: GDestroyNotify = { reference in
            if let reference { Unmanaged<PollableTarget>.fromOpaque(reference).release() }
        }
        return g_unix_fd_add_full(G_PRIORITY_DEFAULT, fileDescriptor, G_IO_IN, drain, reference, release)
    }
}

func runGLib(_ bus: Bus) throws {
    let target = try PollableTarget()
    let relay = try EventRelay(
        following: "org.eventrelay.Service1", on: bus, interfaces: Relocation1.self, Inventory1.self,
        delivery: .pollable(target))
    let window = try BoxWindow(relay, target)
    relay.activate()
    let source = target.attachToGLib()
    press(window)
    let loop = g_main_loop_new(nil, 0)
    withExtendedLifetime(window) { g_main_loop_run(loop) }
    g_main_loop_unref(loop)
    g_source_remove(source)
}

/// In place of a button: GLib calls back once, from its loop.
private func press(_ window: BoxWindow) {
    // The window outlives the loop.
    g_idle_add(
        { window in
            if let window { Unmanaged<BoxWindow>.fromOpaque(window).takeUnretainedValue().pressed() }
            return 0  // G_SOURCE_REMOVE
        }, Unmanaged.passUnretained(window).toOpaque())
}
