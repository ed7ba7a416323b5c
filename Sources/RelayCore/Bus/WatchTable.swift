import CDBus
import CRelayShims

/// libdbus's watches, as one epoll registration for each descriptor.
///
/// Its callbacks come from within libdbus calls, all of which are made under the connection's lock: so is everything here.
/// Nothing in a callback calls libdbus on the connection, which would deadlock.
final class WatchTable: @unchecked Sendable {  // Guarded by the connection's lock, which every libdbus call holds.
    private struct Entry {
        let watch: OpaquePointer
        let descriptor: Int32
        let flags: UInt32
        var isEnabled: Bool
    }
    private var entries: [Entry] = []
    private var registered: [Int32: UInt32] = [:]
    private let loop: BusLoop
    var onRemoval: @Sendable () -> Void = {}
    var handlerID: UInt64 = 0

    init(_ loop: BusLoop) { self.loop = loop }

    func add(_ watch: OpaquePointer) {
        entries.append(
            Entry(
                watch: watch, descriptor: dbus_watch_get_unix_fd(watch), flags: dbus_watch_get_flags(watch),
                isEnabled: dbus_watch_get_enabled(watch) != 0))
        update(entries[entries.count - 1].descriptor)
    }
    func remove(_ watch: OpaquePointer) {
        guard let index = entries.firstIndex(where: { $0.watch == watch }) else { return }
        let entry = entries.remove(at: index)
        update(entry.descriptor)
        // A send on another thread may have found the connection dead: the loop has to look.
        onRemoval()
    }
    func toggle(_ watch: OpaquePointer) {
        guard let index = entries.firstIndex(where: { $0.watch == watch }) else { return }
        entries[index].isEnabled = dbus_watch_get_enabled(watch) != 0
        update(entries[index].descriptor)
    }

    private func update(_ descriptor: Int32) {
        let mine = entries.filter { $0.descriptor == descriptor }
        if mine.isEmpty {
            if registered.removeValue(forKey: descriptor) != nil { loop.unwatch(descriptor) }
            return
        }
        var events: UInt32 = 0
        for entry in mine where entry.isEnabled {
            if entry.flags & DBUS_WATCH_READABLE.rawValue != 0 { events |= EPOLLIN.rawValue }
            if entry.flags & DBUS_WATCH_WRITABLE.rawValue != 0 { events |= EPOLLOUT.rawValue }
        }
        loop.watch(descriptor, for: events, was: registered[descriptor], handler: handlerID)
        registered[descriptor] = events
    }

    /// Tells libdbus what epoll saw. A watch may leave while another is handled, so each is looked up anew.
    func handle(_ events: UInt32) {
        var flags: UInt32 = 0
        if events & EPOLLIN.rawValue != 0 { flags |= DBUS_WATCH_READABLE.rawValue }
        if events & EPOLLOUT.rawValue != 0 { flags |= DBUS_WATCH_WRITABLE.rawValue }
        let failures =
            (events & EPOLLERR.rawValue != 0 ? DBUS_WATCH_ERROR.rawValue : 0)
            | (events & EPOLLHUP.rawValue != 0 ? DBUS_WATCH_HANGUP.rawValue : 0)
        for kind in [DBUS_WATCH_READABLE.rawValue, DBUS_WATCH_WRITABLE.rawValue]
        where flags & kind != 0 || failures != 0 {
            guard let entry = entries.first(where: { $0.isEnabled && $0.flags & kind != 0 }) else { continue }
            dbus_watch_handle(entry.watch, (flags & kind) | failures)
        }
    }
}
