import RelayCore
import RelayWire
import Synchronization

/// An origin's ring, which brings an exporter its live events without the bus, on a thread of its own.
///
/// That thread also does what the exporter does with an event: nobody else has to be woken for it. It runs until the ring
/// ends, or this is released: by the connection, when the origin has another owner. Who attaches again in between goes on
/// with it.
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
    /// What an origin has handed out, until it is mapped: its descriptors are closed then.
    private final class Handout: Sendable {
        private let reply: Mutex<BusReply?>
        init(_ reply: BusReply) { self.reply = Mutex(reply) }
        func take() -> BusReply? { reply.withLock { $0.take() } }
    }
    /// What the payloads of one event are.
    private struct Kind {
        let name: String
        let skip: WireSkip
    }
    /// So long the origin may hold its wait page: its lock is the origin's, too.
    private static let patience = Duration.seconds(5)
    /// So many records are read before the exporter is told of them.
    private static let batch = 256
    private let line: Line
    /// Which one of its connection's.
    let number: Int

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
        switch connection.ringState {
        case .present(let ring): return ring
        case .damaged:
            await connection.closeRing(at: path)
            return nil
        case .none: break
        }
        guard connection.beginMapping() else { return nil }
        do throws(RelayError) {
            let reply: BusReply
            do throws(RelayError) { reply = try await connection.openRing(at: path) } catch {
                connection.endMapping()
                throw error
            }
            if let ring = await begin(reply, connection, schemas) {
                connection.keep(ring)
                return ring
            }
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
        guard reply.signature == "hh", reply.descriptors.count == 2 else {
            connection.endMapping()
            return nil
        }
        let (line, handout) = (Line(), Handout(reply))
        let number = await withCheckedContinuation { continuation in
            let answer = Answer(continuation)
            do throws(SystemError) {
                try OwnThread.start("relay-ring") { [weak connection] in
                    let mapped = map(handout, connection)
                    connection?.endMapping()
                    guard let (area, waiter, sender) = mapped,
                        let number = connection?.beginRing(of: sender, sleepingOn: waiter)
                    else {
                        _ = answer.give(nil)
                        return
                    }
                    line.sleeps(on: waiter)
                    // From here on it misses nothing, and the attachment that waits for the answer asks for what was before.
                    let kinds = kinds(area.header.events, schemas)
                    var reader = RingReader(area, after: 0, atTail: true)
                    var isDamaged = false
                    // Too late, it is not wanted any more.
                    if answer.give(number) {
                        isDamaged = read(area, &reader, kinds, waiter, line, { connection }, number)
                    }
                    connection?.endRing(number, isDamaged: isDamaged)
                }
                OwnTimer(after: patience) { _ = answer.give(nil) }
            } catch {
                connection.endMapping()
                _ = answer.give(nil)
            }
        }
        return number.map { OriginRing(line, $0) }
    }
    /// Waits as long as the origin holds the page's lock. nil: it cannot be mapped.
    private static func map(
        _ handout: Handout, _ connection: OriginConnection?
    ) -> (RingArea, RingWaiter, sender: String)? {
        guard let reply = handout.take() else { return nil }
        do throws(RelayError) {
            let area = try reply.descriptors[0].withNumber { number throws(RelayError) in
                try RingArea(receiving: number)
            }
            if let present = connection?.waiter(of: reply.sender) { return (area, present, reply.sender) }
            return (area, try RingWaiter.sealing(reply.descriptors[1]), reply.sender)
        } catch { return nil }
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

    /// Returns whether the ring is damaged: of that nothing is of use.
    private static func read(
        _ area: RingArea, _ reader: inout RingReader, _ kinds: [Kind?], _ waiter: RingWaiter, _ line: Line,
        _ connection: () -> OriginConnection?, _ number: Int
    ) -> Bool {
        let watch = RingWatch(area)
        while !line.isOver, let connection = connection() {
            do throws(RingFault) {
                guard let hasNews = try drain(&reader, kinds, connection, number) else { return false }
                watch.read(to: reader.position)
                if hasNews {
                    waiter.report(reader.sequence, ringIndex: area.header.ringIndex)
                    HandlerThreads.own.runningJob { connection.bell.ring() }
                }
            } catch { return true }
            _ = waiter.wait { watch.hasNews }
        }
        return false
    }
    /// Returns whether there was anything; nil: the ring has ended. What has no end in sight is brought in batches.
    private static func drain(
        _ reader: inout RingReader, _ kinds: [Kind?], _ connection: OriginConnection, _ number: Int
    ) throws(RingFault) -> Bool? {
        var hasNews = false
        for _ in 0..<batch {
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
        return true
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
