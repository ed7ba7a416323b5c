import CDBus
import Synchronization

/// One attempt to reach a bus, on a thread of its own.
///
/// libdbus waits for as long as a bus does not accept: one that is stopped, with a full backlog. That thread waits with
/// it, and the loop does not. Whoever dials is answered once, on the loop's thread: by then at the latest.
final class BusDial: Sendable {
    typealias Completion = @Sendable (Result<DialedConnection, RelayError>) -> Void
    private struct State {
        var completion: Completion?
        var handler: UInt64?
        var timer: UInt64?
    }
    private let state: Mutex<State>

    private init(_ completion: @escaping Completion) { state = Mutex(State(completion: completion)) }

    /// In a turn of the loop.
    static func begin(_ bus: Bus, on loop: BusLoop, timeout: Duration, completion: @escaping Completion) {
        let place: BusAddress
        do throws(RelayError) { place = try bus.place() } catch { return completion(.failure(error)) }
        let dial = BusDial(completion)
        let dials = loop.dials
        guard dials.begin() else {
            let text = "\(OpenDials.limit) earlier connections still wait for it to accept them"
            return dial.finish(.failure(bus.refusal(RelayError(.timedOut, text))), loop)
        }
        let stopped = RelayError(.unavailable, "no connection to \(bus): the loop was stopped")
        let handler = loop.addHandler(
            { _ in }, whenStopped: { [weak loop] in dial.finish(.failure(stopped), loop) })
        guard let handler else {
            dials.end()
            return dial.finish(.failure(stopped), loop)
        }
        let timer = loop.schedule(after: timeout) { [weak loop] in
            dial.finish(.failure(bus.refusal(RelayError(.timedOut, "no connection within \(timeout)"))), loop)
        }
        dial.state.withLock { ($0.handler, $0.timer) = (handler, timer) }
        do throws(SystemError) {
            // It keeps no loop: one that nobody needs ends though a bus keeps this thread.
            try OwnThread.start("relay-dial") { [weak loop] in
                let result = Result { () throws(RelayError) in try DialedConnection(place) }
                dials.end()
                loop?.execute { [weak loop] in dial.finish(result, loop) }
            }
        } catch {
            dials.end()
            let text = "no thread for a connection to \(bus): \(error)"
            dial.finish(.failure(RelayError(.unavailable, text, cause: error)), loop)
        }
    }
    /// The first answer counts. A connection that comes later is closed.
    private func finish(_ result: Result<DialedConnection, RelayError>, _ loop: BusLoop?) {
        let state = state.withLock { state in
            defer { state = State() }
            return state
        }
        guard let completion = state.completion else { return }
        if let handler = state.handler { loop?.removeHandler(handler) }
        if let timer = state.timer { loop?.cancel(timer: timer) }
        completion(result)
    }
}

/// How many threads wait for a bus to accept: there are few, however often a loop's connections are tried again.
final class OpenDials: Sendable {
    static let limit = 4
    private let count = Atomic<Int>(0)

    var isEmpty: Bool { count.load(ordering: .relaxed) == 0 }
    /// False: there are too many.
    func begin() -> Bool {
        if count.add(1, ordering: .relaxed).newValue <= Self.limit { return true }
        end()
        return false
    }
    func end() { count.subtract(1, ordering: .relaxed) }
}

/// libdbus's connection that nobody serves yet. Closed, unless it is taken.
final class DialedConnection: Sendable {
    /// Only passed on: the lock makes it one's alone.
    private struct Pointer: @unchecked Sendable { var value: OpaquePointer? }
    private let pointer: Mutex<Pointer>

    /// Waits for the bus to accept it.
    init(_ place: BusAddress) throws(RelayError) {
        // Idempotent, and needed before any other call: connections are used from several threads.
        guard dbus_threads_init_default() != 0 else { throw RelayError(.unavailable, "libdbus: out of memory") }
        var failure = DBusError()
        dbus_error_init(&failure)
        guard let pointer = dbus_connection_open_private(place.text, &failure) else {
            defer { dbus_error_free(&failure) }
            let reason = failure.message.map { String(cString: $0) } ?? "out of memory"
            let cause = RemoteError(name: failure.name.map { String(cString: $0) } ?? "", message: reason)
            throw RelayError(.unavailable, place.unreachable(reason), cause: cause)
        }
        // A private connection has it off already; a process that ends with its bus would be too high a price.
        dbus_connection_set_exit_on_disconnect(pointer, 0)
        self.pointer = Mutex(Pointer(value: pointer))
    }
    deinit {
        guard let pointer = take() else { return }
        dbus_connection_close(pointer)
        dbus_connection_unref(pointer)
    }
    /// The caller closes it.
    func take() -> OpaquePointer? { pointer.withLock { $0.value.take() } }
}
