import CDBus
import CRelayShims
import Synchronization

/// libdbus's watches, as one epoll registration for each descriptor.
///
/// Its callbacks come from within libdbus calls, which are made under the connection's lock; but for the release of a
/// message: that may let libdbus read on, and happens on any thread. So this has a lock of its own. Nothing in a
/// callback calls libdbus on the connection, which would deadlock.
final class WatchTable: @unchecked Sendable {  // What is not under its lock is set before libdbus has it.
    private struct Entry {
        /// The watch's address.
        let watch: UInt
        let descriptor: Int32
        let flags: UInt32
        var isEnabled: Bool
    }
    private struct State {
        var entries: [Entry] = []
        var registered: [Int32: UInt32] = [:]
        /// Served by another thread than the loop's for a moment.
        var suspended: Int32?
        /// Something of ours waits for room in the socket.
        var isWaiting = false
    }
    private let state = Mutex(State())
    /// Whether libdbus reads. It does not while messages that were received and not released have as many bytes as the
    /// connection allows.
    let isReading = Atomic(true)
    private let loop: BusLoop
    var onRemoval: @Sendable () -> Void = {}
    var handlerID: UInt64 = 0

    init(_ loop: BusLoop) { self.loop = loop }

    /// False when the kernel has no room for another watched descriptor.
    func add(_ watch: OpaquePointer) -> Bool {
        let entry = Entry(
            watch: UInt(bitPattern: watch), descriptor: dbus_watch_get_unix_fd(watch),
            flags: dbus_watch_get_flags(watch), isEnabled: dbus_watch_get_enabled(watch) != 0)
        return state.withLock { state in
            state.entries.append(entry)
            if update(entry.descriptor, &state) { return true }
            state.entries.removeLast()
            return false
        }
    }
    func remove(_ watch: OpaquePointer) {
        let address = UInt(bitPattern: watch)
        let isKnown = state.withLock { state in
            guard let index = state.entries.firstIndex(where: { $0.watch == address }) else { return false }
            let entry = state.entries.remove(at: index)
            _ = update(entry.descriptor, &state)
            return true
        }
        // A send on another thread may have found the connection dead: the loop has to look.
        if isKnown { onRemoval() }
    }
    func toggle(_ watch: OpaquePointer) {
        let (address, isEnabled) = (UInt(bitPattern: watch), dbus_watch_get_enabled(watch) != 0)
        state.withLock { state in
            guard let index = state.entries.firstIndex(where: { $0.watch == address }) else { return }
            state.entries[index].isEnabled = isEnabled
            _ = update(state.entries[index].descriptor, &state)
        }
    }

    /// With no enabled watch the descriptor leaves epoll: that one reports a hang-up whatever it is asked for, again
    /// and again, and libdbus takes none while its watches are off.
    private func update(_ descriptor: Int32, _ state: inout State) -> Bool {
        var events: UInt32 = 0
        for entry in state.entries where entry.isEnabled && entry.descriptor == descriptor {
            if entry.flags & DBUS_WATCH_READABLE.rawValue != 0 { events |= EPOLLIN.rawValue }
            if entry.flags & DBUS_WATCH_WRITABLE.rawValue != 0 { events |= EPOLLOUT.rawValue }
        }
        if state.isWaiting, state.entries.contains(where: { $0.descriptor == descriptor }) {
            events |= EPOLLOUT.rawValue
        }
        isReading.store(events & EPOLLIN.rawValue != 0, ordering: .relaxed)
        let wanted = events == 0 ? nil : descriptor == state.suspended ? 0 : events
        guard loop.watch(descriptor, for: wanted, was: state.registered[descriptor], handler: handlerID) else {
            if wanted == nil { state.registered[descriptor] = nil }
            return wanted == nil
        }
        state.registered[descriptor] = wanted
        return true
    }
    /// Whether the loop is to look when the socket has room: for what libdbus does not write.
    func waitForRoom(_ isWaiting: Bool) {
        state.withLock { state in
            if state.isWaiting == isWaiting { return }
            state.isWaiting = isWaiting
            if let descriptor = state.entries.first?.descriptor { _ = update(descriptor, &state) }
        }
    }
    var isWaiting: Bool { state.withLock { $0.isWaiting } }
    /// Takes the descriptor that libdbus reads from out of the loop's sight, until `resume`. Nil: it reads from none.
    func suspend() -> Int32? {
        state.withLock { state in
            let reading = state.entries.first { $0.isEnabled && $0.flags & DBUS_WATCH_READABLE.rawValue != 0 }
            guard let reading else { return nil }
            state.suspended = reading.descriptor
            _ = update(reading.descriptor, &state)
            return reading.descriptor
        }
    }
    func resume() {
        state.withLock { state in
            guard let descriptor = state.suspended else { return }
            state.suspended = nil
            _ = update(descriptor, &state)
        }
    }
    /// What epoll is asked for, by descriptor.
    var watched: [Int32: UInt32] { state.withLock { $0.registered } }

    /// Reports to libdbus what epoll saw, under the connection's lock: no watch leaves before it is handled. One may
    /// while another is handled, so each is looked up anew.
    func handle(_ events: UInt32) {
        var flags: UInt32 = 0
        if events & EPOLLIN.rawValue != 0 { flags |= DBUS_WATCH_READABLE.rawValue }
        if events & EPOLLOUT.rawValue != 0 { flags |= DBUS_WATCH_WRITABLE.rawValue }
        let failures =
            (events & EPOLLERR.rawValue != 0 ? DBUS_WATCH_ERROR.rawValue : 0)
            | (events & EPOLLHUP.rawValue != 0 ? DBUS_WATCH_HANGUP.rawValue : 0)
        for kind in [DBUS_WATCH_READABLE.rawValue, DBUS_WATCH_WRITABLE.rawValue]
        where flags & kind != 0 || failures != 0 {
            let address = state.withLock { state in
                state.entries.first { $0.isEnabled && $0.flags & kind != 0 }?.watch
            }
            // Not under this lock: libdbus calls back. The address is a watch's, as libdbus gave it.
            guard let address, let watch = OpaquePointer(bitPattern: address) else { continue }
            dbus_watch_handle(watch, (flags & kind) | failures)
        }
    }
}
