import RelayCore
import RelayWire
import Synchronization

/// An origin's ring, which brings an exporter its live events without the bus, on a thread of its own.
///
/// That thread also does what the exporter does with an event: nobody else has to be woken for it. It runs until the ring
/// ends, or this is released.
final class OriginRing: Sendable {
    /// What ends the thread.
    private final class Line: Sendable {
        private let state = Mutex<(isOver: Bool, waiter: RingWaiter?)>((false, nil))

        var isOver: Bool { state.withLock { $0.isOver } }
        func sleeps(on waiter: RingWaiter) { state.withLock { $0.waiter = waiter } }
        func end() {
            let waiter = state.withLock { state in
                state.isOver = true
                return state.waiter
            }
            waiter?.interrupt()
        }
    }
    /// Given once.
    private final class Answer: Sendable {
        private let continuation: Mutex<CheckedContinuation<Int?, Never>?>
        init(_ continuation: CheckedContinuation<Int?, Never>) { self.continuation = Mutex(continuation) }
        /// False: another one was given.
        func give(_ number: Int?) -> Bool {
            let waiting = continuation.withLock { $0.take() }
            waiting?.resume(returning: number)
            return waiting != nil
        }
    }
    /// What the payloads of one event are.
    private struct Kind {
        let name: String
        let skip: WireSkip
    }
    /// So long the origin may hold its wait page: its lock is the origin's, too.
    private static let patience = Duration.seconds(5)
    private let line: Line
    /// Which one of its connection's.
    private let number: Int

    private init(_ line: Line, _ number: Int) { (self.line, self.number) = (line, number) }
    deinit { line.end() }

    /// Nothing more comes in it. The origin is to be attached to again, if it is still there.
    func hasEnded(at connection: OriginConnection) -> Bool { !connection.reads(ring: number) }

    /// Asks the origin for its ring, before `Attach`, and begins to read at its end. nil: events come by signals.
    ///
    /// - Parameter schemas: of what is published now, by the events' names.
    static func open(
        _ connection: OriginConnection, at path: String, _ schemas: [String: EventSchema]
    ) async -> OriginRing? {
        guard connection.passesDescriptors else { return nil }
        do throws(RelayError) {
            let reply = try await connection.openRing(at: path)
            if let ring = await begin(reply, connection, schemas) { return ring }
        } catch {
            if error.code == .notFound { return nil }
        }
        // It may take this exporter for a reader, and send it no signals.
        await connection.closeRing(at: path)
        return nil
    }
    private static func begin(
        _ reply: BusReply, _ connection: OriginConnection, _ schemas: [String: EventSchema]
    ) async -> OriginRing? {
        guard reply.signature == "hh", reply.descriptors.count == 2 else { return nil }
        let line = Line()
        let number = await withCheckedContinuation { continuation in
            let answer = Answer(continuation)
            do throws(SystemError) {
                try OwnThread.start("relay-ring") { [weak connection] in
                    guard let (area, waiter) = try? map(reply), let number = connection?.beginRing(of: reply.sender)
                    else {
                        _ = answer.give(nil)
                        return
                    }
                    line.sleeps(on: waiter)
                    // Too late, it is not wanted any more.
                    if answer.give(number) {
                        read(area, kinds(area.header.events, schemas), waiter, line, { connection }, number)
                    }
                    connection?.endRing(number)
                }
                OwnTimer(after: patience) { _ = answer.give(nil) }
            } catch { _ = answer.give(nil) }
        }
        return number.map { OriginRing(line, $0) }
    }
    /// Waits as long as the origin holds the page's lock.
    private static func map(_ reply: BusReply) throws(RelayError) -> (RingArea, RingWaiter) {
        let area = try reply.descriptors[0].withNumber { number throws(RelayError) in
            try RingArea(receiving: number)
        }
        let waiter = try reply.descriptors[1].withNumber { number throws(RelayError) in
            let waiter = try RingWaiter(receiving: number)
            if !WaitPage.seal(number) { throw RelayError(.unavailable, "the origin's wait page cannot be sealed") }
            return waiter
        }
        return (area, waiter)
    }
    /// By the ring's numbers; nil: nobody can read it.
    private static func kinds(_ events: [RingEvent], _ schemas: [String: EventSchema]) -> [Kind?] {
        events.map { event in
            guard event.rawSize == nil, let schema = schemas[event.name],
                let signature = try? Signature(schema.fields.signature)
            else { return nil }
            return Kind(name: event.name, skip: WireSkip(signature.types))
        }
    }

    // MARK: The thread

    private static func read(
        _ area: RingArea, _ kinds: [Kind?], _ waiter: RingWaiter, _ line: Line, _ connection: () -> OriginConnection?,
        _ number: Int
    ) {
        var reader = RingReader(area, after: 0, atTail: true)
        let watch = RingWatch(area)
        while !line.isOver, let connection = connection() {
            do throws(RingFault) {
                guard let hasNews = try drain(&reader, kinds, connection, number) else { return }
                watch.read(to: reader.position)
                if hasNews {
                    waiter.report(reader.sequence, ringIndex: area.header.ringIndex)
                    HandlerThreads.own.runningJob { connection.bell.ring() }
                }
            } catch {
                // Of a damaged ring nothing is of use: signals are, once it is attached to again.
                return
            }
            _ = waiter.wait { watch.hasNews }
        }
    }
    /// Returns whether there was anything; nil: the ring has ended.
    private static func drain(
        _ reader: inout RingReader, _ kinds: [Kind?], _ connection: OriginConnection, _ number: Int
    ) throws(RingFault) -> Bool? {
        var hasNews = false
        while true {
            switch try reader.next() {
            case .record(let kind, let stamp):
                hasNews = true
                if let kind = kinds[kind], let body = body(reader.payload, stamp, kind) {
                    connection.bring(kind.name, body, by: number)
                } else {
                    connection.doubtLive()
                }
            case .tooLarge:
                hasNews = true
                connection.doubtLive()
            // The next event's sequence shows that.
            case .lapped, .absent: break
            case .empty: return hasNews
            case .ended: return nil
            }
        }
    }
    /// A signal's; nil: the payload is not what the origin has reported.
    private static func body(_ payload: UnsafeRawBufferPointer, _ stamp: Stamp, _ kind: Kind) -> [UInt8]? {
        var reader = WireReader(payload)
        do throws(WireFault) {
            try reader.skip(kind.skip)
            try reader.finish()
        } catch { return nil }
        var writer = WireWriter(capacity: payload.count + 64)
        writer.append(payload)
        stamp.write(into: &writer)
        return writer.takeBytes()
    }
}
