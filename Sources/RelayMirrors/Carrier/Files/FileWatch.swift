import Dispatch
import Glibc
import RelayCore
import Synchronization

/// Notices that something in a directory was written, for one waiter at a time.
final class FileWatch: Sendable {
    /// Where the kernel notices nothing: other hosts' changes on a shared file system, a directory that is to come.
    private static let patience = Duration.milliseconds(250)
    private static let queue = DispatchQueue(label: "relay-files")
    private struct State {
        var source: (any DispatchSourceRead)?
        var descriptor: Int32 = -1
    }
    private let state = Mutex(State())
    private let bell = Bell()
    private let directory: String

    init(_ directory: String) { self.directory = directory }
    deinit { state.withLock { $0.source?.cancel() } }

    /// From now on the next change ends a wait: one, so that nothing is woken while nobody waits.
    func arm() {
        state.withLock { state in
            if state.source == nil { open(&state) }
            // The last one is IN_ONESHOT, which Swift does not see.
            let events = UInt32(IN_MODIFY | IN_CREATE | IN_MOVED_TO | IN_DELETE | IN_MOVED_FROM) | UInt32(1) << 31
            if state.descriptor >= 0 { _ = inotify_add_watch(state.descriptor, directory, events) }
        }
    }
    private func open(_ state: inout State) {
        let descriptor = inotify_init1(Int32(IN_NONBLOCK) | Int32(IN_CLOEXEC))
        if descriptor < 0 { return }
        let source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: Self.queue)
        source.setEventHandler { [bell] in
            var bytes = [UInt8](repeating: 0, count: 4_096)
            while read(descriptor, &bytes, bytes.count) > 0 {}
            bell.ring()
        }
        source.setCancelHandler { close(descriptor) }
        source.resume()
        (state.source, state.descriptor) = (source, descriptor)
    }
    /// Returns after a change since `arm`, when the task is cancelled, or after a while.
    func wait() async { await bell.wait(atMost: Self.patience) }
}
