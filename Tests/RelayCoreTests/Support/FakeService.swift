import Glibc
import Synchronization

@testable import RelayCore
import RelayWire

/// A service by hand, which says and leaves out what a test wants.
final class FakeService: BusHandler {
    fileprivate struct State {
        var connection: BusConnection?
        var sequence: UInt64 = 0
        var last: [String: UInt64] = [:]
        var attaches = 0
        var calls: [String] = []
        /// What a journal would have; nil for a volatile one.
        var rows: [LogPage.Event]?
        /// The last sequence before each run.
        var runs: [(epoch: UInt64, before: UInt64)] = []
        var pruned: UInt64 = 0
        /// The serial of the page that was not confirmed.
        var unread: UInt32?
        var received: [UInt32] = []
        var losses = 0
        var reads: [StreamRead] = []
        var unproved = 0
        var refusals = 0
        var isSilent = false
        var ignoresAttaches = false
        /// How many more calls of `Attach` are answered that it cannot be done now.
        var attachRefusals = 0
        var ring: Ring?
        /// How many more calls of `OpenRing` are refused, as by a service with too many peers.
        var ringRefusals = 0
        /// How many more answers to `OpenRing` are lost, with the ring that they would hand over.
        var lostRings = 0
        /// As on a restricted interface: no signals for the relay, which has a ring.
        var isHandedOver = false
        var openedRings = 0
        var closedRings = 0
        /// Calls of `OpenRing` wait until they are answered late.
        var delaysRings = false
        var delayedRings: [IncomingCall] = []
        /// How many more calls of `CloseRing` are lost, or refused.
        var lostCloses = 0
        var closeRefusals = 0
        /// What it says that it can do.
        var features: Set<StreamFeature> = [.runs]
        /// The calls of `OpenReplay` and `Replay`.
        var replayCalls: [String] = []
        var socket: ReplaySocket?
        /// How many more pages the socket has room for.
        var socketRoom = 0
        /// How long it says that a page in the socket is; nil: the truth.
        var claim: UInt32?
    }
    /// Shared memory that this service writes itself, into any place.
    final class Ring: @unchecked Sendable {  // Under the service's lock.
        let area: RingArea
        let page: WaitPage
        /// What is handed out: a description of its own, as a service's is, whose offset has a lock.
        let descriptor: Int32
        fileprivate var pen: RecordWriter

        init(epoch: UInt64, _ events: [RingEvent]) throws {
            area = try RingArea(
                creating: "fake", RingHeader(epoch: epoch, base: 0, capacity: 64 << 10, events: events))
            page = try WaitPage(slot: 0)
            pen = RecordWriter(area)
            descriptor = open("/proc/self/fd/\(area.memory.number)", O_RDONLY | O_CLOEXEC)
        }
        deinit { close(descriptor) }
    }
    let epoch: UInt64
    private let interface: String
    private let schemas: [UInt32: EventSchema]
    private let signatures: [UInt32: Signature]
    private let state = Mutex(State())
    private let loop: BusLoop

    private init(_ interface: String, _ epoch: UInt64, _ schemas: [EventSchema]) throws {
        (self.interface, self.epoch) = (interface, epoch)
        self.schemas = Dictionary(uniqueKeysWithValues: schemas.enumerated().map { (UInt32($0), $1) })
        var signatures = try self.schemas.mapValues { try Stream1.bodySignature($0.fields) }
        // A number that it does not tell.
        signatures[7] = signatures[UInt32(max(schemas.count, 1) - 1)]
        self.signatures = signatures
        loop = try BusLoop(name: "fake")
    }
    deinit { loop.stop() }

    /// Takes the name, after having published `early`.
    static func start(
        _ name: String, _ interface: String, on bus: Bus, epoch: UInt64, schemas: [EventSchema] = [],
        isDurable: Bool = false, after earlier: FakeService? = nil, ring: Ring? = nil
    ) async throws -> FakeService {
        let service = try FakeService(interface, epoch, schemas)
        let connection = try await BusConnection.connect(to: bus, on: service.loop, handler: service)
        let old = earlier?.state.withLock { ($0.sequence, $0.last, $0.rows, $0.runs, $0.pruned) }
        service.state.withLock { state in
            state.connection = connection
            state.ring = ring
            if isDurable { state.rows = [] }
            if let old { (state.sequence, state.last, state.rows, state.runs, state.pruned) = old }
            state.runs.append((epoch, state.sequence))
        }
        var body = WireWriter()
        try body.string(name)
        body.uint32(4)
        _ = try await connection.call(.toBus("RequestName", Signature("su"), body: body.bytes))
        return service
    }
    /// Of the last event that it has published.
    var sequence: UInt64 { state.withLock { $0.sequence } }
    /// How often the relay asked where this run stands.
    var attaches: Int { state.withLock { $0.attaches } }
    /// The methods that were called, in order.
    var calls: [String] { state.withLock { $0.calls } }
    /// What was asked of `Read`.
    var reads: [StreamRead] { state.withLock { $0.reads } }
    /// How many calls of `Read` came before the last page was confirmed.
    var unproved: Int { state.withLock { $0.unproved } }
    /// The next answers of `Read` are that there is no room.
    func refuseReads(_ count: Int) { state.withLock { $0.refusals = count } }
    /// Answers no `Attach`.
    func ignoreAttaches() { state.withLock { $0.ignoresAttaches = true } }
    /// The serials that were confirmed.
    var received: [UInt32] { state.withLock { $0.received } }
    /// The next answers of `Read` are lost.
    func loseReads(_ count: Int) { state.withLock { $0.losses = count } }
    /// The next answers of `Attach` are that it cannot be done now: try again.
    func refuseAttaches(_ count: Int) { state.withLock { $0.attachRefusals = count } }
    /// Notifies the relay that it is attached no more.
    func detach() throws {
        try state.withLock { state in
            try state.connection?.send(
                .signal(path: Stream1.path(of: interface), interface: Stream1.name, member: "Reattach"))
        }
    }
    /// Answers `Read` no more.
    func silenceReads() { state.withLock { $0.isSilent = true } }
    /// Says that it has `Replay`, whose socket is full after so many pages, as one is whose owner may have little room.
    ///
    /// - Parameter claim: how long it says that each page is; nil for the truth.
    func offerReplays(pages: Int, claiming claim: UInt32? = nil) {
        state.withLock { ($0.features, $0.socketRoom, $0.claim) = ([.runs, .replays], pages, claim) }
    }
    /// The calls of `OpenReplay` and `Replay`, in order.
    var replayCalls: [String] { state.withLock { $0.replayCalls } }
    /// Refuses the next calls of `OpenRing`: there are too many.
    func refuseRings(_ count: Int) { state.withLock { $0.ringRefusals = count } }
    /// The next answers to `OpenRing` are lost. Until the ring is given back, this takes it that the relay has it, and
    /// sends no signals.
    func loseRings(_ count: Int) { state.withLock { $0.lostRings = count } }
    var isHandedOver: Bool { state.withLock { $0.isHandedOver } }
    /// Answers no call of `OpenRing`, until `answerRings`.
    func delayRings() { state.withLock { $0.delaysRings = true } }
    /// Answers those that came meanwhile, and the next ones at once.
    func answerRings() throws {
        try state.withLock { state in
            state.delaysRings = false
            let numbers = state.ring.map { [$0.descriptor, $0.page.descriptor] } ?? []
            for call in state.delayedRings { try state.connection?.reply(to: call, descriptors: numbers) }
            state.openedRings += state.delayedRings.count
            state.delayedRings = []
        }
    }
    /// The next calls of `CloseRing` are lost.
    func loseCloses(_ count: Int) { state.withLock { $0.lostCloses = count } }
    /// The next calls of `CloseRing` are refused: there is no room for them.
    func refuseCloses(_ count: Int) { state.withLock { $0.closeRefusals = count } }
    /// How often a ring was handed over.
    var openedRings: Int { state.withLock { $0.openedRings } }
    /// How often a ring was given back.
    var closedRings: Int { state.withLock { $0.closedRings } }
    /// Puts an event into the ring, in its place, and sends no signal of it.
    ///
    /// - Parameter wakes: whether a reader that sleeps is woken.
    func put(_ kind: Int, _ name: String, _ values: [DBusValue], wakes: Bool = true) throws {
        try state.withLock { state in
            state.sequence += 1
            let stamp = Stamp(
                epoch: 0, sequence: state.sequence, previous: state.last[name] ?? 0,
                publishedAt: Timestamp(microseconds: 1))
            state.last[name] = state.sequence
            var body = WireWriter()
            try DBusValue.encode(values, into: &body)
            body.withUnsafeBytes { payload in
                _ = state.ring?.pen.write(stamp, kind: UInt32(kind), payload) { _ in }
            }
            if wakes { state.ring?.page.wake(at: MonotonicClock.now) }
        }
    }
    /// Removes the rows up to a sequence.
    func prune(through sequence: UInt64) {
        state.withLock { state in
            state.rows?.removeAll { $0.sequence <= sequence }
            state.pruned = sequence
        }
    }
    var uniqueName: String { state.withLock { $0.connection?.uniqueName ?? "" } }
    /// Is gone at once, like a process that was killed.
    func vanish() { state.withLock { $0.connection }?.close() }

    /// Publishes an event whose fields are `values`; one that is lost only takes its place.
    ///
    /// Sent under the lock, as a service does: the answer of `Attach` must not overtake an event that it counts.
    func publish(_ name: String, _ values: [DBusValue], isLost: Bool = false) throws {
        try state.withLock { state in
            state.sequence += 1
            let stamp: [DBusValue] = [.uint64(state.sequence), .uint64(state.last[name] ?? 0), .uint64(1)]
            state.last[name] = state.sequence
            var body = WireWriter()
            try DBusValue.encode(values + stamp, into: &body)
            if state.rows != nil, let number = schemas.filter({ $0.value.event == name }).keys.max() {
                state.rows?.append(
                    LogPage.Event(name: name, schema: number, sequence: state.sequence, body: body.bytes))
            }
            if isLost || state.isHandedOver { return }
            let header = MessageHeader.signal(
                path: Stream1.path(of: interface), interface: interface, member: name,
                signature: try DBusValue.signature(of: values + stamp))
            try state.connection?.send(header, body: body.bytes)
        }
    }
    /// Adds a row as an older version wrote it, which was not sent.
    func append(_ name: String, schema: UInt32, _ values: [DBusValue]) {
        state.withLock { state in
            state.sequence += 1
            let stamp: [DBusValue] = [.uint64(state.sequence), .uint64(state.last[name] ?? 0), .uint64(1)]
            state.last[name] = state.sequence
            var body = WireWriter()
            guard (try? DBusValue.encode(values + stamp, into: &body)) != nil else { return }
            state.rows?.append(
                LogPage.Event(name: name, schema: schema, sequence: state.sequence, body: body.bytes))
        }
    }
    func announce() throws {
        try state.withLock { state in
            var body = WireWriter()
            try Stream1.write(
                StreamHead(epoch: epoch, sequence: state.sequence, last: state.last), into: &body)
            try state.connection?.send(
                .signal(
                    path: Stream1.path(of: interface), interface: Stream1.name, member: "Head",
                    signature: Signature(Stream1.headSignature)), body: body.bytes)
        }
    }

    func signal(_ message: borrowing ReceivedMessage) {}
    func descriptorLimit(interface: String?, member: String, signature: String) -> Int {
        member == "OpenReplay" ? 1 : 0
    }
    func methodCall(_ call: IncomingCall) {
        state.withLock { state in
            var body = WireWriter()
            if call.member != "Received" { state.calls.append(call.member) }
            do {
                switch call.member {
                case "Schemas":
                    try Stream1.write(schemas, into: &body)
                    state.connection?.reply(to: call, try Signature(Stream1.schemasSignature), body: body.bytes)
                case "Attach":
                    state.attaches += 1
                    if state.ignoresAttaches { return }
                    if state.attachRefusals > 0 {
                        state.attachRefusals -= 1
                        state.connection?.fail(call, ErrorNames.name(for: .unavailable), "try again")
                        return
                    }
                    let request = try call.body.withUnsafeBytes { body in
                        var reader = WireReader(body)
                        return try Stream1.readAttach(&reader)
                    }
                    let answer = Attachment(
                        epoch: epoch, from: state.from(request.epoch, request.after),
                        oldest: state.rows == nil ? .max : state.pruned + 1,
                        head: state.sequence, last: state.last,
                        details: AttachOptions(
                            features: state.features,
                            runs: state.rows == nil
                                ? [] : state.runs.map { StreamRun(epoch: $0.epoch, first: $0.before + 1) }))
                    try Stream1.write(answer, into: &body)
                    state.connection?.reply(to: call, try Signature(Stream1.attachmentSignature), body: body.bytes)
                case "OpenReplay":
                    state.replayCalls.append(call.member)
                    state.socket = try call.descriptors.first.map { try ReplaySocket($0) }
                    state.connection?.reply(to: call)
                case "Read", "Replay":
                    if call.member == "Replay" { state.replayCalls.append(call.member) }
                    let request = try call.body.withUnsafeBytes { body in
                        var reader = WireReader(body)
                        return try Stream1.readRead(&reader)
                    }
                    state.reads.append(request)
                    if state.isSilent { return }
                    guard let page = state.page(request) else {
                        state.connection?.fail(call, ErrorNames.name(for: .notFound), "volatile")
                        return
                    }
                    if state.refusals > 0 {
                        state.refusals -= 1
                        state.connection?.fail(call, ErrorNames.name(for: .limitsExceeded), "no room")
                        return
                    }
                    if state.losses > 0 {
                        state.losses -= 1
                        return
                    }
                    if state.unread != nil { state.unproved += 1 }
                    try Stream1.write(page, signatures: signatures, into: &body)
                    if call.member == "Replay" { return try replay(call, body.bytes, &state) }
                    let serial = UInt32.random(in: 0x8000_0000...UInt32.max)
                    state.unread = serial
                    state.connection?.reply(
                        to: call, try Signature(Stream1.pageSignature), body: body.bytes, serial: serial)
                case "Received":
                    let serial = try call.body.withUnsafeBytes { body in
                        var reader = WireReader(body)
                        return try reader.uint32()
                    }
                    state.received.append(serial)
                    if state.unread == serial { state.unread = nil }
                case "CloseRing" where state.lostCloses > 0: state.lostCloses -= 1
                case "CloseRing" where state.closeRefusals > 0:
                    state.closeRefusals -= 1
                    state.connection?.fail(call, ErrorNames.name(for: .limitsExceeded), "no room")
                case "CloseRing":
                    state.closedRings += 1
                    state.isHandedOver = false
                    state.connection?.reply(to: call)
                case "OpenRing" where state.ringRefusals > 0:
                    state.ringRefusals -= 1
                    state.connection?.fail(call, ErrorNames.name(for: .limitsExceeded), "too many")
                case "OpenRing" where state.lostRings > 0:
                    state.lostRings -= 1
                    state.isHandedOver = true
                case "OpenRing" where state.delaysRings: state.delayedRings.append(call)
                case "OpenRing" where state.ring != nil:
                    let numbers = state.ring.map { [$0.descriptor, $0.page.descriptor] } ?? []
                    try state.connection?.reply(to: call, descriptors: numbers)
                    state.openedRings += 1
                case "OpenRing", "Contract": state.connection?.fail(call, ErrorNames.unknownMethod, call.member)
                default: break
                }
            } catch {
                state.connection?.fail(call, ErrorNames.name(for: .internalFailure), "\(error)")
            }
        }
    }
    /// Writes a page into the socket. Of one that has no room any more a part is written, as it is by a service.
    private func replay(_ call: IncomingCall, _ page: [UInt8], _ state: inout State) throws {
        state.socketRoom -= 1
        let hasRoom = state.socketRoom >= 0
        let isWritten = page.withUnsafeBytes { page in
            state.socket?.write(UnsafeRawBufferPointer(rebasing: page[..<(hasRoom ? page.count : page.count / 2)]))
        }
        guard hasRoom, isWritten == true else {
            state.socket = nil
            state.connection?.fail(call, ErrorNames.name(for: .conflict), "the socket has no room")
            return
        }
        var numbers = WireWriter()
        numbers.uint32(state.claim ?? UInt32(page.count))
        let serial = UInt32.random(in: 0x8000_0000...UInt32.max)
        state.unread = serial
        state.connection?.reply(
            to: call, try Signature(Stream1.replaySignature), body: numbers.bytes, serial: serial)
    }
    func disconnected(_ reason: RelayError) {}
}

extension FakeService.State {
    fileprivate func from(_ known: UInt64, _ after: UInt64) -> UInt64 {
        guard rows != nil, let run = runs.firstIndex(where: { $0.epoch == known }) else {
            return 0
        }
        return min(after, run + 1 < runs.count ? runs[run + 1].before : sequence)
    }
    /// At most so many events, so that there are several pages.
    fileprivate func page(_ request: StreamRead) -> LogPage? {
        guard let rows else { return nil }
        let wanted = rows.filter {
            $0.sequence > request.after
                && (request.names == [Stream1.allNames] || request.names.contains($0.name))
        }
        let limit = request.limit == 0 ? 1_000 : Int(request.limit)
        let run = runs.last { $0.before < wanted.first?.sequence ?? sequence + 1 }
        let end = runs.first { $0.before > run?.before ?? 0 && $0.before >= wanted.first?.sequence ?? 0 }?.before
        let events = Array(wanted.prefix(limit).prefix { $0.sequence <= end ?? .max })
        let isAll = events.count == wanted.count
        return LogPage(
            epoch: run?.epoch ?? 0, events: events, oldest: pruned + 1,
            through: isAll ? sequence : max(events.last?.sequence ?? 0, end.map { events.count < limit ? $0 : 0 } ?? 0),
            head: sequence)
    }
}
