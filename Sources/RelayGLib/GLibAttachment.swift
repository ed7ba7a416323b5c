import CGLib
import Dispatch
import Glibc
public import RelayEvents

extension PollableTarget {
    /// Has a main loop of GLib's, and so of GTK's, run what is delivered here: between its other events, on its thread.
    ///
    /// ```swift
    /// let target = try PollableTarget()
    /// let relay = try EventRelay(following: name, interfaces: Printing1.self, delivery: .pollable(target))
    /// let attachment = target.attach()
    /// ```
    ///
    /// - Isolation: from any thread.
    /// - Cancellation: ``GLibAttachment/detach()``, or the attachment's release.
    /// - Parameter context: a `GMainContext *`; nil means the default one, which a GTK program's main loop uses.
    /// - Returns: keeps the target attached.
    public func attach(to context: OpaquePointer? = nil) -> GLibAttachment {
        GLibAttachment(fileDescriptor, context) { self.drain() }
    }
}

extension MainActor {
    /// Has a main loop of GLib's, and so of GTK's, run the main actor, and with it libdispatch's main queue: between the
    /// loop's other events.
    ///
    /// ```swift
    /// try relay.subscribe(orderList, to: Orders1.self) { list, event in list.apply(event) } onGap: { $0.show($1) }
    /// let attachment = MainActor.attach()
    /// relay.activate()
    /// withExtendedLifetime((orderList, attachment)) { g_main_loop_run(loop) }
    /// ```
    ///
    /// The descriptor and the function are those by which Foundation's run loop does the same
    /// (`_dispatch_get_main_queue_handle_4CF` in libdispatch's `private.h`).
    ///
    /// - Isolation: the loop must run on the main thread, from a synchronous `main()`: an asynchronous one, and that of a
    ///   `RelayProgram`, is a loop of its own.
    /// - Cancellation: ``GLibAttachment/detach()``, or the attachment's release.
    /// - Parameter context: a `GMainContext *`; nil means the default one, which a GTK program's main loop uses.
    /// - Returns: keeps the main actor attached.
    @MainActor public static func attach(to context: OpaquePointer? = nil) -> GLibAttachment {
        let descriptor = _dispatch_get_main_queue_handle_4CF()
        return GLibAttachment(descriptor, context) {
            // Before the queue is emptied: what comes meanwhile makes the descriptor readable again.
            var wakes: UInt64 = 0
            _ = read(descriptor, &wakes, MemoryLayout.size(ofValue: wakes))
            _dispatch_main_queue_callback_4CF(nil)
        }
    }
}

/// Keeps a target, or the main actor, attached to a main loop of GLib's.
public final class GLibAttachment: @unchecked Sendable {  // GLib counts and locks a source itself.
    private let source: UnsafeMutablePointer<GSource>

    /// - Parameter drain: is called on the loop's thread while the descriptor is readable.
    fileprivate init(_ descriptor: Int32, _ context: OpaquePointer?, _ drain: @escaping @Sendable () -> Void) {
        source = g_unix_fd_source_new(descriptor, G_IO_IN)
        // GLib holds the action, and releases it with the source.
        let reference = Unmanaged.passRetained(Action(drain)).toOpaque()
        let call: GUnixFDSourceFunc = { _, _, reference in
            if let reference { Unmanaged<Action>.fromOpaque(reference).takeUnretainedValue().body() }
            return 1  // G_SOURCE_CONTINUE
        }
        // As a source of this kind calls it (glib-unix.h); GLib's setter takes the general type.
        let callback = unsafeBitCast(call, to: GSourceFunc.self)
        g_source_set_callback(source, callback, reference) { reference in
            if let reference { Unmanaged<Action>.fromOpaque(reference).release() }
        }
        g_source_attach(source, context)
    }
    deinit {
        detach()
        g_source_unref(source)
    }
    /// Ends it. Any number of times; what is delivered later waits until there is an attachment again.
    public func detach() { g_source_destroy(source) }
}

/// What GLib calls.
private final class Action: Sendable {
    let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
}
