import CDBus
import CRelayShims

/// libdbus's watches, as one epoll registration for each descriptor.
///
/// Its callbacks come from within libdbus calls, all of which are made under the connection's lock: so is everything
/// here. Nothing in a callback calls libdbus on the connection, which would deadlock.
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

    /// False when the kernel has no room for another watched descriptor.
    func add(_ watch: OpaquePointer) -> Bool {
        entries.append(
            Entry(
                watch: watch, descriptor: dbus_watch_get_unix_fd(watch), flags: dbus_watch_get_flags(watch),
                isEnabled: dbus_watch_get_enabled(watch) != 0))
        if update(entries[entries.count - 1].descriptor) { return true }
        entries.removeLast()
        return false
    }
    func remove(_ watch: OpaquePointer) {
        guard let index = entries.firstIndex(where: { $0.watch == watch }) else { return }
        let entry = entries.remove(at: index)
        _ = update(entry.descriptor)
        // A send on another thread may have found the connection dead: the loop has to look.
        onRemoval()
    }
    func toggle(_ watch: OpaquePointer) {
        guard let index = entries.firstIndex(where: { $0.watch == watch }) else { return }
        entries[index].isEnabled = dbus_watch_get_enabled(watch) != 0
        _ = update(entries[index].descriptor)
    }

    /// With no enabled watch the descriptor leaves epoll: that one reports a hang-up whatever it is asked for, again
    /// and again, and libdbus takes none while its watches are off.
    private func update(_ descriptor: Int32) -> Bool {
        var events: UInt32 = 0
        for entry in entries where entry.isEnabled && entry.descriptor == descriptor {
            if entry.flags & DBUS_WATCH_READABLE.rawValue != 0 { events |= EPOLLIN.rawValue }
            if entry.flags & DBUS_WATCH_WRITABLE.rawValue != 0 { events |= EPOLLOUT.rawValue }
        }
        let wanted = events == 0 ? nil : events
        guard loop.watch(descriptor, for: wanted, was: registered[descriptor], handler: handlerID) else {
            if wanted == nil { registered[descriptor] = nil }
            return wanted == nil
        }
        registered[descriptor] = wanted
        return true
    }
    /// What epoll is asked for, by descriptor.
    var watched: [Int32: UInt32] { registered }

    /// Reports to libdbus what epoll saw. A watch may leave while another is handled, so each is looked up anew.
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
