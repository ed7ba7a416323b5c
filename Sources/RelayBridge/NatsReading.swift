import CNats
import Dispatch
import RelayCore
import RelayMirrors
import Synchronization

/// Messages of a stream in their order, as the server sends them: a bounded queue between libnats's thread and who reads.
final class NatsReading: Sendable {
    /// What libnats's thread fills. It lives until libnats says that it calls no more.
    private final class Inbox: Sendable {
        struct State {
            var messages: ArraySlice<(number: UInt64, bytes: [UInt8])> = []
            var bytes = 0
            /// libnats's thread waits for room.
            var isFull = false
            var isOver = false
            /// Rings with each message.
            var bell: Bell
        }
        static let mostBytes = 8 << 20
        let state: Mutex<State>
        let room = DispatchSemaphore(value: 0)

        init(_ bell: Bell) { state = Mutex(State(bell: bell)) }

        /// On libnats's thread. Waits while there is no room.
        ///
        /// - Parameter isLast: there was nothing behind it when the server sent it. Then this thread, which has nothing else
        ///   to do, runs what waits for the message, until that waits again: to wake another thread would take as long as
        ///   a good part of what it does.
        func add(_ message: borrowing NatsMessage, isLast: Bool) {
            let bytes = message.bytes
            let (isFull, bell) = state.withLock { state in
                state.messages.append((message.number, bytes))
                state.bytes += bytes.count
                state.isFull = state.bytes >= Self.mostBytes && !state.isOver
                return (state.isFull, state.bell)
            }
            if isLast && !isFull { return HandlerThreads.own.runningJob { bell.ring() } }
            bell.ring()
            if isFull { room.wait() }
        }
        func takeRoom(_ state: inout State) -> Bool {
            guard state.isFull, state.isOver || state.bytes < Self.mostBytes / 2 else { return false }
            state.isFull = false
            return true
        }
    }
    private let inbox: Inbox
    /// Rings with each message; one task waits for it.
    private let bell = Bell()
    // libnats locks what this stands for. It is released here alone.
    nonisolated(unsafe) private let subscription: OpaquePointer
    /// The first number that it brings.
    let first: UInt64

    /// - Parameter subscribe: makes the subscription, with this handler and its closure.
    init(
        from first: UInt64,
        _ subscribe: (inout OpaquePointer?, natsMsgHandler, UnsafeMutableRawPointer) throws(NatsFailure) -> Void
    ) throws(NatsFailure) {
        self.first = first
        inbox = Inbox(bell)
        // Released when libnats calls no more.
        let retained = Unmanaged.passRetained(inbox)
        var subscription: OpaquePointer?
        do throws(NatsFailure) {
            try subscribe(
                &subscription, { _, _, message, closure in NatsReading.received(message, closure) }, retained.toOpaque()
            )
            try nats {
                natsSubscription_SetOnCompleteCB(
                    subscription, { closure in closure.map { Unmanaged<Inbox>.fromOpaque($0).release() } },
                    retained.toOpaque())
            }
        } catch {
            // Nothing calls a handler of what was not made; of what was made, the inbox stays.
            if subscription == nil { retained.release() }
            natsSubscription_Destroy(subscription)
            throw error
        }
        guard let subscription else { throw NatsFailure(NATS_ERR) }
        self.subscription = subscription
    }
    deinit {
        let waits = inbox.state.withLock { state in
            state.isOver = true
            return inbox.takeRoom(&state)
        }
        if waits { inbox.room.signal() }
        natsSubscription_Destroy(subscription)
    }
    private static func received(_ message: OpaquePointer?, _ closure: UnsafeMutableRawPointer?) {
        guard let message, let closure else { return }
        var data: UnsafeMutablePointer<jsMsgMetaData>?
        let status = natsMsg_GetMetaData(&data, message)
        defer { jsMsgMetaData_Destroy(data) }
        let found = NatsMessage(message, number: data?.pointee.Sequence.Stream ?? 0)
        // What is no message of a stream is nobody's.
        guard status == NATS_OK, found.number <= MirrorHeader.lastSequence else { return }
        Unmanaged<Inbox>.fromOpaque(closure).takeUnretainedValue().add(found, isLast: data?.pointee.NumPending == 0)
    }

    /// The messages from a number on that are here and follow each other: at least one, and as many more as have so many
    /// bytes. nil: that number is not here now.
    func take(from number: UInt64, atMost limit: Int) -> MessageBatch? {
        var (bytes, ranges): ([UInt8], [Range<Int>]) = ([], [])
        let hasRoom = inbox.state.withLock { state in
            while let next = state.messages.first {
                if next.number >= number {
                    guard next.number == number + UInt64(ranges.count),
                        ranges.isEmpty || bytes.count + next.bytes.count <= limit
                    else { break }
                    let start = bytes.count
                    bytes += next.bytes
                    ranges.append(start..<bytes.count)
                }
                state.messages.removeFirst()
                state.bytes -= next.bytes.count
            }
            return inbox.takeRoom(&state)
        }
        if hasRoom { inbox.room.signal() }
        return ranges.isEmpty ? nil : MessageBatch(first: number, bytes: bytes, ranges: ranges)
    }
    /// The number of the last message that is here; nil: none is.
    var last: UInt64? { inbox.state.withLock { $0.messages.last?.number } }
    /// Returns when something has come since the last wait, or after a while. One task's, which has asked for this bell.
    func wait(atMost duration: Duration) async { await bell.wait(atMost: duration) }
    /// Rings this bell from now on, and no other; nil: the one that `wait` waits for.
    func ring(_ bell: Bell?) { inbox.state.withLock { $0.bell = bell ?? self.bell } }
}
