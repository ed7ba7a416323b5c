import Synchronization
import RelayWire

/// How much a service has sent and its slowest receiver has not taken; all its streams share it.
///
/// A bus that holds too much of a sender's harms it: dbus-daemon stops reading what it sends, replies included, and
/// dbus-broker ends its connection, or another one of its user. So the bus is asked.
final class BusBacklog: Sendable {
    private let connection: BusConnection
    private let notices: NoticeReporter
    private let timing: ServiceTiming
    private let meter: Mutex<BacklogEstimator>

    /// Asks for the first time: the source, and how much room there is, are known before much is sent.
    init(_ connection: BusConnection, _ notices: NoticeReporter, _ timing: ServiceTiming) {
        (self.connection, self.notices, self.timing) = (connection, notices, timing)
        meter = Mutex(BacklogEstimator(timing.signals))
        if let source = meter.withLock({ beginLook(&$0) }) { ask(source) }
    }

    /// Who reports how much there is.
    var source: BacklogEstimator.Source { meter.withLock { $0.source } }

    /// Whether signals of so many bytes altogether may be sent. If not, signals have to pause until it is low.
    func admits(_ count: Int, messages: Int) -> Bool {
        let (isAdmitted, source) = meter.withLock { meter in
            let source = meter.isDue ? beginLook(&meter) : nil
            return (meter.admits(count, messages: messages, now: MonotonicClock.now), source)
        }
        if let source { ask(source) }
        return isAdmitted
    }
    /// Whether a `Head` may be sent.
    func admitsHead(_ count: Int, messages: Int) -> Bool {
        meter.withLock { $0.admitsHead(count, messages: messages) }
    }
    /// Checks whether it is still high, and returns when to check again.
    func look(_ now: UInt64) -> (isHigh: Bool, pace: Duration) {
        let (result, source, change) = meter.withLock { meter in
            let source = meter.isDue(at: now) ? beginLook(&meter) : nil
            return ((meter.isHigh, meter.pace(now)), source, meter.takeChange(now))
        }
        if let source { ask(source) }
        if let change { report(change) }
        return result
    }
    private func report(_ change: BacklogEstimator.Change) {
        switch change {
        case .lasts(let bytes, let isLate):
            let place = source == .queue ? "wait for the bus" : "are held by the bus"
            let cause =
                isLate
                ? "the bus has more copies of them to make than it can: there are too many subscribers without a ring"
                : "\(bytes >> 20) MiB of them \(place): a subscriber does not read; docs/OPERATING.md says how to find it"
            notices.report(
                .signalsPaused, .warning,
                "signals have been paused for \(timing.signals.lasting.components.seconds) s, because \(cause)")
        case .isOver: notices.report(.signalsPaused, .info, "the bus has room again: signals go on")
        }
    }

    /// Whom to ask; nil when the look is done already.
    private func beginLook(_ meter: inout BacklogEstimator) -> BacklogEstimator.Source? {
        if meter.source == .queue {
            meter.looked(connection.outgoingBytes)
            return nil
        }
        meter.asked(MonotonicClock.now)
        return meter.source
    }
    private func ask(_ source: BacklogEstimator.Source) {
        guard let question = try? BusFigures.question(to: source, by: connection.uniqueName) else { return }
        connection.send(question, timeout: timing.figures) { [weak self] result in
            guard let self else { return }
            let next = meter.withLock { meter -> BacklogEstimator.Source? in
                do throws(RelayError) {
                    let figures = try BusFigures(result.get(), from: source)
                    meter.answered(figures.held, room: figures.room, now: MonotonicClock.now)
                    return nil
                } catch {
                    if BusFigures.isPassing(error) {
                        meter.unanswered()
                        return nil
                    }
                    meter.refused()
                    return beginLook(&meter)
                }
            }
            if let next { ask(next) }
        }
    }
}

/// What a bus reports of how much it holds (`org.freedesktop.DBus.Debug.Stats`, which the specification leaves to
/// each).
struct BusFigures: Equatable {
    /// Bytes that were sent, and not yet taken.
    let held: Int
    /// How many there may be, where the bus reports it.
    let room: Int?

    static func question(to source: BacklogEstimator.Source, by name: String) throws(RelayError) -> MethodCall {
        var call = MethodCall.toBus(source == .sender ? "GetConnectionStats" : "GetStats")
        call.interface = "org.freedesktop.DBus.Debug.Stats"
        if source == .sender {
            var body = WireWriter()
            try body.string(name)
            (call.signature, call.body) = (try Signature("s"), body.bytes)
        }
        return call
    }
    /// Whether a question without an answer says nothing about what the bus reports: it had no time or no room for this
    /// one.
    static func isPassing(_ error: RelayError) -> Bool {
        // `LimitsExceeded` and `NoMemory` of the bus are one code.
        [.timedOut, .unavailable, .cancelled, .limitsExceeded].contains(error.code)
    }
    /// Throws `SchemaMismatch` when the answer has not what was asked for.
    init(_ reply: BusReply, from source: BacklogEstimator.Source) throws(RelayError) {
        guard reply.signature == "a{sv}", case .dictionary(_, let entries)? = try reply.values().first else {
            throw RelayError(.schemaMismatch, "the bus's figures have the signature '\(reply.signature)'")
        }
        func value(_ key: String) -> DBusValue? {
            let entry = entries.first { $0.key == .string(key) }
            return if case .variant(let value)? = entry?.value { value } else { nil }
        }
        switch source {
        case .sender:
            // Of the connection that was asked for: what it has sent, and others have not taken.
            if case .uint32(let bytes)? = value("IncomingBytes") {
                (held, room) = (Int(bytes), nil)
                return
            }
        case .users:
            // (user, [(what, free, of how many)], who uses it). The user that has most waiting comes to the end first.
            let bytes = value("org.bus1.DBus.Debug.Stats.UserAccounting").flatMap(Self.users) ?? []
            if let fullest = bytes.max(by: { $0.held < $1.held }) {
                (held, room) = (fullest.held, bytes.map(\.room).min())
                return
            }
        case .queue: break
        }
        throw RelayError(.schemaMismatch, "the bus does not tell how much it holds")
    }
    /// Asks how much the bus holds for one connection, from all senders.
    static func question(to source: ReplySender.UnreadSource, about peer: String) throws(RelayError) -> MethodCall {
        switch source {
        case .connection: try question(to: .sender, by: peer)
        case .peers: try question(to: .users, by: peer)
        case .nobody: throw RelayError(.notFound, "this bus does not say what it holds for \(peer)")
        }
    }
    /// Throws `SchemaMismatch` when the answer has not what was asked for, `Unavailable` when the peer has left.
    static func held(
        for peer: String, _ reply: BusReply, from source: ReplySender.UnreadSource
    ) throws(RelayError) -> Int {
        guard reply.signature == "a{sv}", case .dictionary(_, let entries)? = try reply.values().first else {
            throw RelayError(.schemaMismatch, "the bus's figures have the signature '\(reply.signature)'")
        }
        func bytes(_ entries: [DBusValue.Entry]) -> Int? {
            for entry in entries where entry.key == .string("OutgoingBytes") {
                switch entry.value {
                case .variant(.uint32(let bytes)), .uint32(let bytes): return Int(bytes)
                default: return nil
                }
            }
            return nil
        }
        if source == .connection, let held = bytes(entries) { return held }
        let key = DBusValue.string("org.bus1.DBus.Debug.Stats.PeerAccounting")
        if source == .peers, case .variant(.array(_, let peers))? = entries.first(where: { $0.key == key })?.value {
            for case .structure(let fields) in peers where fields.first == .string(peer) {
                // Its name, its credentials, its figures.
                for case .dictionary(_, let figures) in fields.dropFirst() {
                    if let held = bytes(figures) { return held }
                }
                throw RelayError(.schemaMismatch, "the bus does not say how much it holds for a peer")
            }
            throw RelayError(.unavailable, "\(peer) has left the bus")
        }
        throw RelayError(.schemaMismatch, "the bus does not say how much it holds for a peer")
    }
    private static func users(_ value: DBusValue) -> [(held: Int, room: Int)]? {
        guard case .array(_, let users) = value else { return nil }
        return users.compactMap { user in
            guard case .structure(let fields) = user, fields.count > 1, case .array(_, let slots) = fields[1] else {
                return nil
            }
            for case .structure(let slot) in slots where slot.count == 3 && slot[0] == .string("Bytes") {
                if case (.uint32(let free), .uint32(let room)) = (slot[1], slot[2]), free <= room {
                    return (Int(room - free), Int(room))
                }
            }
            return nil
        }
    }
}
