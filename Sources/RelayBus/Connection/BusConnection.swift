import CDBus
import Glibc
import Synchronization
package import RelayWire

/// A private connection to a bus, served by a loop's thread.
///
/// - Order: signals, calls and replies reach the handler and the completions in the order in which the bus sent them.
/// - Isolation: sending is allowed from any thread; everything that comes in is shown on the loop's thread.
/// - Loss: when the bus goes, every waiting call ends with `Unavailable`, then the handler hears `disconnected`.
/// - Cancellation: a cancelled call ends at once; a reply that comes later is dropped.
package final class BusConnection: Sendable {
    /// libdbus's connection. Every call of libdbus on it is made under this lock, so that the watch callbacks are too:
    /// else one thread could free a watch while the loop handles it.
    struct Inner: ~Copyable, @unchecked Sendable {  // Guarded by the lock.
        var pointer: OpaquePointer?
        /// In place of libdbus's connection, where messages stay in the process.
        var link: (any BusLink)?
        let watches: WatchTable
        var outbox = Outbox()
        /// libdbus's socket, once the bus has let this connection in: what we composed is written there by ourselves, as
        /// long as libdbus has it.
        var socket: Int32?
    }
    let inner: Mutex<Inner>
    let templates = Mutex(HeaderTemplates())
    let pending: Mutex<PendingCalls>
    /// Held while a rule's request is sent: two threads' `AddMatch` and `RemoveMatch` must not overtake each other.
    let matches = Mutex(MatchTable())
    /// The owners of some names are followed for the sake of replies. Asked for with each signal.
    let isFollowing = Atomic<Bool>(false)
    private let name = Mutex("")
    let strays = Atomic<Int>(0)
    let dropped = Atomic<Int>(0)
    /// What may wait for the bus before calls are no longer taken: more than events may ever take up.
    static let answerLimit = 96 << 20
    /// With so many bytes received and not released, libdbus reads no more, until they are. There is no bound for a single
    /// message: libdbus would end the connection over a larger one, so that anybody could end it.
    private static let receivedLimit = WireLimits.receivedLength
    private let handlerID = Atomic<UInt64>(0)
    package let loop: BusLoop
    package let timing: BusTiming
    weak let handler: (any BusHandler)?

    /// The name that the bus gave this connection; empty before.
    package var uniqueName: String { name.withLock { $0 } }
    /// Replies that answered nothing of ours.
    package var strayReplies: Int { strays.load(ordering: .relaxed) }
    /// Calls that were not taken, because too much waits for the bus already.
    package var droppedCalls: Int { dropped.load(ordering: .relaxed) }

    // MARK: Connecting

    /// Opens a connection and calls `Hello`. The completion comes on the loop's thread, which does not wait for the bus.
    package static func open(
        _ bus: Bus, on loop: BusLoop, handler: any BusHandler, timing: BusTiming = BusTiming(),
        completion: @escaping @Sendable (Result<BusConnection, RelayError>) -> Void
    ) {
        loop.execute {
            if let linked = bus.linked {
                return BusConnection(linked, loop, handler, timing).enter(bus, within: timing.hello, completion)
            }
            let deadline = MonotonicClock.deadline(after: timing.hello, from: loop.now)
            // The handler is its owner's: an attempt that takes its time does not keep it.
            BusDial.begin(bus, on: loop, timeout: timing.hello) { [weak loop, weak handler] result in
                do throws(RelayError) {
                    let dialed = try result.get()
                    guard let loop else {
                        throw RelayError(.unavailable, "no connection to \(bus): the loop was stopped")
                    }
                    let connection = try BusConnection(bus, dialed, loop, handler, timing)
                    // Once: it goes on between two looks.
                    let now = loop.now
                    let left = Duration.nanoseconds(Int64(clamping: max(deadline, now) - now))
                    connection.enter(bus, within: left, completion)
                } catch {
                    completion(.failure(error))
                }
            }
        }
    }
    private func enter(
        _ bus: Bus, within time: Duration,
        _ completion: @escaping @Sendable (Result<BusConnection, RelayError>) -> Void
    ) {
        send(.toBus("Hello"), timeout: time) { [self] reply in
            do throws(RelayError) {
                let name = try reply.get().read("s") { try $0.string() }
                self.name.withLock { $0 = name }
                completion(.success(self))
            } catch {
                close()
                completion(.failure(bus.refusal(error)))
            }
        }
    }
    /// Opens a connection and calls `Hello`.
    package static func connect(
        to bus: Bus, on loop: BusLoop, handler: any BusHandler, timing: BusTiming = BusTiming()
    ) async throws -> BusConnection {
        defer { withExtendedLifetime((loop, handler)) {} }
        return try await withCheckedThrowingContinuation { continuation in
            open(bus, on: loop, handler: handler, timing: timing) { continuation.resume(with: $0) }
        }
    }

    /// Of a bus that is none: messages stay in the process.
    private init(_ bus: LinkedBus, _ loop: BusLoop, _ handler: any BusHandler, _ timing: BusTiming) {
        (self.loop, self.handler, self.timing) = (loop, handler, timing)
        inner = Mutex(Inner(pointer: nil, link: bus.link, watches: WatchTable(loop)))
        pending = Mutex(PendingCalls(startingAt: 0))
        bus.link.join(self, as: bus)
    }
    /// Serves a connection that the bus has accepted.
    private init(
        _ bus: Bus, _ dialed: DialedConnection, _ loop: BusLoop, _ handler: (any BusHandler)?, _ timing: BusTiming
    ) throws(RelayError) {
        (self.loop, self.handler, self.timing) = (loop, handler, timing)
        guard let pointer = dialed.take() else {
            throw RelayError(.internalFailure, "the connection to \(bus) was taken before")
        }
        dbus_connection_set_max_received_size(pointer, Self.receivedLimit)
        inner = Mutex(Inner(pointer: pointer, watches: WatchTable(loop)))
        pending = Mutex(PendingCalls(startingAt: UInt32.random(in: 0...UInt32.max), drawsSerials: true))
        let id = loop.addHandler(
            { [weak self] events in self?.ready(events) },
            whenStopped: { [weak self] in _ = self?.end(RelayError(.unavailable, "the connection's loop was stopped")) }
        )
        guard let id else { throw RelayError(.unavailable, "no connection to \(bus): the loop was stopped") }
        handlerID.store(id, ordering: .relaxed)
        let isServed = inner.withLock { inner in
            inner.watches.handlerID = id
            inner.watches.onRemoval = { [weak self] in loop.execute { [weak self] in self?.drain() } }
            // libdbus holds the table until it frees its watch functions, with the connection.
            let data = Unmanaged.passRetained(inner.watches).toOpaque()
            let isSet = dbus_connection_set_watch_functions(
                inner.pointer,
                { watch, data in
                    guard let watch, let data else { return 0 }
                    return Unmanaged<WatchTable>.fromOpaque(data).takeUnretainedValue().add(watch) ? 1 : 0
                },
                { watch, data in
                    if let watch, let data {
                        Unmanaged<WatchTable>.fromOpaque(data).takeUnretainedValue().remove(watch)
                    }
                },
                { watch, data in
                    if let watch, let data {
                        Unmanaged<WatchTable>.fromOpaque(data).takeUnretainedValue().toggle(watch)
                    }
                }, data, { data in if let data { Unmanaged<WatchTable>.fromOpaque(data).release() } })
            // No timeout functions: libdbus needs them for its own pending calls only, and ours are not its.
            if isSet == 0 { Unmanaged<WatchTable>.fromOpaque(data).release() }
            return isSet != 0
        }
        if !isServed {
            throw RelayError(.unavailable, "no connection to \(bus): out of memory or of watched descriptors")
        }
    }
    deinit {
        close()
        // Those that asked after the end.
        endMatches(RelayError(.unavailable, "the connection was closed"))
    }

    /// Ends the connection. From any thread, any number of times, also within the handler. Waiting calls end; the
    /// handler is not called any more, except for a call that another thread has begun.
    package func close() { end(RelayError(.unavailable, "the connection was closed")) }

    @discardableResult func end(_ reason: RelayError) -> Bool {
        let wasOpen = inner.withLock { inner -> Bool in
            guard let pointer = inner.pointer else {
                defer { inner.link = nil }
                inner.link?.leave(self)
                return inner.link != nil
            }
            // What was sent in this turn, and is gathered.
            Self.flush(&inner)
            (inner.pointer, inner.socket) = (nil, nil)
            inner.outbox = Outbox()
            dbus_connection_close(pointer)
            dbus_connection_unref(pointer)
            return true
        }
        guard wasOpen else { return false }
        loop.removeHandler(handlerID.load(ordering: .relaxed))
        for entry in pending.withLock({ $0.close() }) {
            loop.cancel(timer: entry.timer)
            let error = RelayError(.unavailable, "\(entry.title): \(reason.message)", cause: reason, mayHaveRun: true)
            loop.execute { entry.completion(.failure(error)) }
        }
        endMatches(reason)
        return true
    }

    // MARK: Sending

    /// The bytes that wait, because the bus does not take them as fast as they are sent.
    package var outgoingBytes: Int {
        inner.withLock { inner in
            inner.outbox.count + (inner.pointer.map { dbus_connection_get_outgoing_size($0) } ?? 0)
        }
    }

    /// Waits until the bus has taken everything, as long as it goes on taking some.
    ///
    /// Returns false when nothing moved for as long as `patience`, or the connection is gone.
    package func drainOutgoing(patience: Duration) async -> Bool {
        // A task of its own: the caller's cancellation must not cut off what was published. No timer of the loop's:
        // those go when it is stopped. Looks again and again, as this is for the end of a service's life only.
        await Task.detached(executorPreference: HandlerThreads.own) { [self] in
            var (last, deadline) = (outgoingBytes, MonotonicClock.deadline(after: patience))
            while isOpen {
                let bytes = outgoingBytes
                if bytes == 0 { return true }
                if bytes < last { (last, deadline) = (bytes, MonotonicClock.deadline(after: patience)) }
                if MonotonicClock.now > deadline { return false }
                await OwnTimer.sleep(for: timing.look)
            }
            return false
        }.value
    }
    private var isOpen: Bool { inner.withLock { $0.pointer != nil || $0.link != nil } }

    /// Sends a call. The completion comes exactly once, on the loop's thread. Returns the serial, for `cancel`.
    @discardableResult package func send(
        _ call: MethodCall, timeout: Duration = .seconds(25),
        completion: @escaping @Sendable (Result<BusReply, RelayError>) -> Void
    ) -> UInt32 {
        let entry = PendingCalls.Entry(call, completion: completion)
        let (serial, isOpen, isKnown) = pending.withLock { pending in
            let serial = pending.callSerial()
            let isKnown = PendingCalls.isPeer(call.destination) || pending.owners.isFollowed(call.destination)
            return (serial, pending.add(entry, serial: serial), isKnown)
        }
        if !isKnown { follow(call.destination) }
        guard isOpen else {
            let error = RelayError(.unavailable, "\(call.title): the connection to the bus is gone")
            loop.execute { completion(.failure(error)) }
            return serial
        }
        let timer = loop.schedule(after: timeout) { [weak self] in
            let text = "\(call.title): no answer within \(timeout)"
            self?.finish(serial, .failure(RelayError(.timedOut, text, mayHaveRun: true)))
        }
        if !pending.withLock({ $0.setTimer(timer, of: serial) }) { loop.cancel(timer: timer) }
        do throws(RelayError) {
            if !call.descriptors.isEmpty {
                try sendDescriptors(call, serial: serial)
                return serial
            }
            let header = MessageHeader.methodCall(
                path: call.path, interface: call.interface, member: call.member, destination: call.destination,
                signature: call.signature, flags: call.flags)
            try send(header, serial: serial, body: call.body)
        } catch {
            loop.execute { [weak self] in self?.finish(serial, .failure(error)) }
        }
        return serial
    }
    /// Sends a call and waits for its answer. Throws what went wrong, with the remote error as its cause.
    package func call(_ call: MethodCall, timeout: Duration = .seconds(25)) async throws -> BusReply {
        if Task.isCancelled { throw RelayError(.cancelled, "\(call.title): the task was cancelled before") }
        let serial = Mutex<UInt32?>(nil)
        let result: Result<BusReply, RelayError> = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let sent = send(call, timeout: timeout) { continuation.resume(returning: $0) }
                serial.withLock { $0 = sent }
                if Task.isCancelled { cancel(sent) }
            }
        } onCancel: {
            if let sent = serial.withLock({ $0 }) { cancel(sent) }
        }
        return try result.get()
    }
    /// Ends a waiting call with `Cancelled`. Its reply, if one comes, is dropped.
    package func cancel(_ serial: UInt32) {
        loop.execute { [weak self] in
            let text = "the task was cancelled while it waited for an answer"
            self?.finish(serial, .failure(RelayError(.cancelled, text, mayHaveRun: true)))
        }
    }
    func finish(_ serial: UInt32, _ result: Result<BusReply, RelayError>) {
        guard let entry = pending.withLock({ $0.remove(serial) }) else { return }
        loop.cancel(timer: entry.timer)
        entry.completion(result)
    }

    /// Answers a call.
    ///
    /// - Parameter serial: the answer's own; nil: the connection's next.
    package func reply(
        to call: IncomingCall, _ signature: Signature = .empty, body: [UInt8] = [], serial: UInt32? = nil
    ) {
        guard call.wantsReply else { return }
        do throws(RelayError) {
            try send(
                .methodReturn(to: call.serial, destination: call.sender, signature: signature),
                serial: serial ?? nextSerial(), body: body)
        } catch {
            // Without a connection there is nobody to notify. Else the caller must not wait for what never comes.
            if error.code != .unavailable {
                fail(call, ErrorNames.name(for: error.code), error.message, serial: serial)
            }
        }
    }
    /// Answers a call with an error. A name or a message that D-Bus cannot carry is made one that it can.
    ///
    /// - Parameter serial: the answer's own; nil: the connection's next.
    package func fail(_ call: IncomingCall, _ errorName: String, _ message: String, serial: UInt32? = nil) {
        guard call.wantsReply else { return }
        let isValid = BusNames.isErrorName(errorName)
        let text = String(String.UnicodeScalarView(message.unicodeScalars.prefix(4_096).filter { $0 != "\0" }))
        var body = WireWriter()
        do throws(RelayError) {
            try body.string(text, named: "the message")
            let header = MessageHeader.error(
                isValid ? errorName : ErrorNames.name(for: .internalFailure), to: call.serial,
                destination: call.sender, signature: try Signature("s"))
            try send(header, serial: serial ?? nextSerial(), body: body.bytes)
        } catch {
            // The connection is gone.
        }
    }
}
