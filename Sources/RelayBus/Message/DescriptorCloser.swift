import CDBus
import Glibc
import Synchronization

/// Closes file descriptors that came from others, on threads of its own.
///
/// Closing a file of some file systems waits until their server agrees (FUSE): a hostile peer could send one to stop a
/// loop. It blocks one of these threads instead. They are started when there is something to close, and end when there
/// is not.
enum DescriptorCloser {
    /// So many can be held up at once; past that descriptors stay open until one is let go.
    private static let threadLimit = 64

    private enum Item: Sendable {
        case descriptor(Int32)
        /// The last reference to a message, which closes the descriptors that came with it. Only this uses it any more.
        case message(SendablePointer)
    }
    private struct SendablePointer: @unchecked Sendable {  // Passed from one owner to the next.
        let pointer: OpaquePointer
    }
    private struct State {
        var waiting: [Item] = []
        var threads = 0
    }
    private static let state = Mutex(State())

    static func close(_ descriptor: Int32) { add(.descriptor(descriptor)) }
    /// Gives a reference to a message up.
    static func release(_ message: OpaquePointer) { add(.message(SendablePointer(pointer: message))) }

    private static func add(_ item: Item) {
        let starts = state.withLock { state in
            state.waiting.append(item)
            if state.threads == threadLimit { return false }
            state.threads += 1
            return true
        }
        if !starts { return }
        // Without another thread this one does it: what is not closed is used up sooner or later.
        do throws(SystemError) { try OwnThread.start("descriptors") { run() } } catch { run() }
    }
    private static func run() {
        while let item = next() {
            switch item {
            case .descriptor(let number): Glibc.close(number)
            case .message(let message): dbus_message_unref(message.pointer)
            }
        }
    }
    /// Nil: the thread ends.
    private static func next() -> Item? {
        state.withLock { state in
            if !state.waiting.isEmpty { return state.waiting.removeFirst() }
            state.threads -= 1
            return nil
        }
    }
}
