import CDBus
import CRelayShims
import Glibc
import Synchronization
import RelayWire

/// What comes in, on the loop's thread.
extension BusConnection {
    func ready(_ events: UInt32) {
        inner.withLock { inner in
            guard inner.pointer != nil else { return }
            inner.watches.handle(events)
            Self.flush(&inner)
        }
        // In a flood every message would wake this thread: it gives way, so that they come a few at a time.
        if drain() >= Self.flood { sched_yield() }
    }
    /// Takes in what comes on the calling thread, in its turn of the loop, which sleeps on: until `isOver`, for so many
    /// nanoseconds, or until the loop has something else to do.
    package func serve(for duration: UInt64, until isOver: () -> Bool) {
        guard let descriptor = inner.withLock({ $0.pointer == nil ? nil : $0.watches.suspend() }) else { return }
        loop.serve(descriptor, for: duration, until: isOver) { [self] in ready($0) }
        inner.withLock { $0.watches.resume() }
    }
    /// So many messages at once are a flood.
    private static let flood = 4
    /// Returns how many messages there were.
    @discardableResult func drain() -> Int {
        var (count, mayBeOversized, wasOversized) = (0, false, false)
        while true {
            let message = inner.withLock { inner -> MessageHandle? in
                guard let pointer = inner.pointer else { return nil }
                // One that is so large has filled what may be received, by itself.
                mayBeOversized = !inner.watches.isReading.load(ordering: .relaxed)
                return dbus_connection_pop_message(pointer).map { MessageHandle(adopting: $0) }
            }
            guard let message else { break }
            // nil: of a kind that D-Bus does not know yet.
            guard let received = ReceivedMessage(message, mayBeOversized: mayBeOversized) else { continue }
            wasOversized = wasOversized || received.isOversized
            count += 1
            if count == 2 { loop.gather() }
            dispatch(received)
        }
        // What it took is of no use to anything else. A process that gets none keeps its allocator as it is.
        if wasOversized { relay_return_large_blocks() }
        // Out of memory in libdbus: what it has read stays; look again soon.
        let status = inner.withLock { inner in inner.pointer.map { dbus_connection_get_dispatch_status($0) } }
        if status == DBUS_DISPATCH_NEED_MEMORY {
            loop.schedule(after: timing.memory) { [weak self] in self?.drain() }
        }
        return count
    }
    /// - Parameter attached: the file descriptors of a message that came by a link, in the order of their indices.
    func dispatch(_ message: borrowing ReceivedMessage, attached: [ReceivedDescriptor] = []) {
        switch message.kind {
        case .methodReturn, .error: answer(message, attached)
        case .methodCall:
            call(message, attached)
        case .signal:
            if message.isDisconnected {
                let reason = RelayError(.unavailable, "the bus closed the connection")
                // A connection that was never admitted has no handler to notify: `open` reports that.
                let wasIn = !uniqueName.isEmpty
                if end(reason), wasIn { loop.execute { [handler] in handler?.disconnected(reason) } }
            } else if !message.isOversized {
                if isFollowing.load(ordering: .relaxed), message.hasSender("org.freedesktop.DBus") {
                    noteOwnerChange(message)
                }
                handler?.signal(message)
            }
        }
    }
    private func call(_ message: borrowing ReceivedMessage, _ attached: [ReceivedDescriptor]) {
        guard let sender = message.sender, let path = message.path, let member = message.member else { return }
        // A bus that has stopped reading from us still brings calls: their answers must not gather without end.
        if outgoingBytes > Self.answerLimit {
            dropped.add(1, ordering: .relaxed)
            return
        }
        let size = message.withBody { $0.count }
        let isTooLarge = message.isOversized || size > WireLimits.defaultMessageLength
        let (interface, signature) = (message.interface, message.signature)
        let limit = handler?.descriptorLimit(interface: interface, member: member, signature: signature) ?? 0
        let areTransferred = limit > 1 && !isTooLarge
        let call = IncomingCall(
            self, sender: sender, serial: message.serial, path: path, interface: interface, member: member,
            signature: signature, body: isTooLarge ? [] : message.body, wantsReply: message.wantsReply,
            allowsInteraction: message.allowsInteraction,
            descriptors: areTransferred ? [] : message.descriptors(atMost: min(limit, 1)),
            transferred: areTransferred ? Self.transferred(message, attached, atMost: limit) : [:])
        if isTooLarge {
            let size = message.isOversized ? "over \(WireLimits.receivedLength)" : "\(size)"
            let text = "\(member) with \(size) bytes of arguments, over the limit of \(WireLimits.defaultMessageLength)"
            return fail(call, ErrorNames.name(for: .tooLarge), text)
        }
        guard let handler else { return fail(call, ErrorNames.unknownObject, "nobody is at home") }
        handler.methodCall(call)
    }
    private static func transferred(
        _ message: borrowing ReceivedMessage, _ attached: [ReceivedDescriptor], atMost limit: Int
    ) -> [UInt32: ReceivedDescriptor] {
        if attached.isEmpty { return message.transferred(atMost: limit) }
        return Dictionary(uniqueKeysWithValues: attached.prefix(limit).enumerated().map { (UInt32($0), $1) })
    }
    private func answer(_ message: borrowing ReceivedMessage, _ attached: [ReceivedDescriptor]) {
        let (sender, serial) = (message.sender, message.replySerial)
        switch pending.withLock({ $0.answered(by: sender, serial: serial) }) {
        case .ends(let entry):
            loop.cancel(timer: entry.timer)
            entry.completion(result(of: message, attached, for: entry))
        case .isDoubtful(let entry):
            let answer = PendingCalls.HeldAnswer(
                sender: sender ?? "", result: result(of: message, attached, for: entry),
                size: 1 + message.withBody { $0.count })
            if !hold(answer, for: serial, to: entry.destination) { dropReply(of: sender) }
        case .isStray:
            // It is closed with its message. The service has to know that it is no longer on its way.
            received(message, attached)
            dropReply(of: sender)
        }
    }
    private func result(
        of message: borrowing ReceivedMessage, _ attached: [ReceivedDescriptor], for entry: PendingCalls.Entry
    ) -> Result<BusReply, RelayError> {
        received(message, attached, isConfirmed: entry.isConfirmed)
        if message.isOversized {
            let text = "\(entry.title): a reply of over \(WireLimits.receivedLength) bytes, which is not looked at"
            return .failure(RelayError(.tooLarge, text, mayHaveRun: true))
        }
        if message.kind == .methodReturn {
            let body = message.body
            if entry.takesDescriptors {
                let transferred = Self.transferred(message, attached, atMost: DescriptorBag.limit)
                return .success(
                    BusReply(
                        sender: message.sender ?? "", signature: message.signature, body: body,
                        transferred: transferred))
            }
            return .success(
                BusReply(
                    sender: message.sender ?? "", signature: message.signature, body: body,
                    descriptors: message.descriptors(atMost: 2) + message.processDescriptor()))
        }
        var text = ""
        if message.signature.hasPrefix("s") {
            text = message.withBody { body in
                var reader = WireReader(body)
                return (try? reader.string()) ?? ""
            }
        }
        let remote = RemoteError(name: message.errorName ?? "", message: text)
        return .failure(ErrorNames.relayError(remote, calling: entry.title))
    }
    private func received(
        _ message: borrowing ReceivedMessage, _ attached: [ReceivedDescriptor], isConfirmed: Bool = false
    ) {
        // Not the bus's own, about a peer's process.
        guard let sender = message.sender, sender.hasPrefix(":") else { return }
        if isConfirmed || message.kind == .methodReturn && (message.containsDescriptors || !attached.isEmpty) {
            handler?.replyReceived(from: sender, serial: message.serial)
        }
    }
}
