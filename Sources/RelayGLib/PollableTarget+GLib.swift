import CGLib
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
        GLibAttachment(self, context)
    }
}

/// Keeps a target attached to a main loop of GLib's.
public final class GLibAttachment: @unchecked Sendable {  // GLib counts and locks a source itself.
    private let source: UnsafeMutablePointer<GSource>

    fileprivate init(_ target: PollableTarget, _ context: OpaquePointer?) {
        source = g_unix_fd_source_new(target.fileDescriptor, G_IO_IN)
        // GLib holds the target, and releases it with the source.
        let reference = Unmanaged.passRetained(target).toOpaque()
        let drain: GUnixFDSourceFunc = { _, _, reference in
            if let reference { Unmanaged<PollableTarget>.fromOpaque(reference).takeUnretainedValue().drain() }
            return 1  // G_SOURCE_CONTINUE
        }
        // As a source of this kind calls it (glib-unix.h); GLib's setter takes the general type.
        let callback = unsafeBitCast(drain, to: GSourceFunc.self)
        g_source_set_callback(source, callback, reference) { reference in
            if let reference { Unmanaged<PollableTarget>.fromOpaque(reference).release() }
        }
        g_source_attach(source, context)
    }
    deinit {
        detach()
        g_source_unref(source)
    }
    /// Ends it. Any number of times; what is delivered later waits until the target is attached again.
    public func detach() { g_source_destroy(source) }
}
