@testable import RelayCore

/// A durable service with its journal, a bus that loses, and a relay's stream machine, as a value: one step at a time, all steps
/// possible. Beside this file: the service's side, the relay's, and how all comes to rest and is checked.
struct DurableWorld: Hashable {
    enum Input: UInt64, CaseIterable {
        case publishA, publishB, publishC
        /// Published, and lost on the way.
        case loseA, loseB
        /// Committed, and not sent before the next thing that is.
        case commitA
        case start, stop, crash
        /// The relay's connection to the bus ends, and comes back.
        case cut, reconnect
        case head
        /// Two seconds pass.
        case tick
        /// The service answers what it was asked.
        case serve
        /// The bus brings what it has.
        case bring
        /// The last two messages on their way change places; the last one comes twice.
        case swap, duplicate
        /// What was asked is not answered.
        case timeout
        /// The oldest event is removed from the journal.
        case prune
        /// The journal is replaced by the backup, and the service starts with it.
        case restore
        /// The journal that a backup has replaced comes back, and the service starts with it.
        case undoRestore
        /// The consumer has no room from the next event on; it has again.
        case full, room
        case wantNone, wantA, wantBoth, wantAll
        /// Published, and too large for the ring: it tells only that it is there.
        case skipA
        /// The ring's thread reads a record; or one though an answer is waited for, because that takes too long.
        case fetch, fetchAnyway
        /// The oldest record that is not read yet is overwritten.
        case lap
        /// The ring turns out to be none.
        case fault
        /// The service ends the ring, since another peer may read no further; or this relay's attachment, too.
        case replaceRing, detach
        /// The same, and the bus loses the word about it.
        case replaceUnheard
        /// The relay has had a ring for a while that has ended.
        case note
        /// An event of a mirror's origin, which is lost before the mirror's journal.
        case miss
        /// The mirror begins anew, with what was backed up of the same history; gets the next event or run of it; and
        /// learns that there is no more of it.
        case rebuild, catchUp, closeRun
    }
    enum Message: Hashable {
        case opened(UInt64)
        case reattach
        case event(DurableJournal.Row)
        case answer(Attachment)
        case page(DurableJournal.Page)
        case head(StreamHead, isLast: Bool)
        case vanished
        case appeared(epoch: UInt64)
    }
    /// What became of an event, and what was to become of it.
    struct Fact: Hashable {
        let row: DurableJournal.Row
        /// It must be delivered, or be in a gap.
        var isDue: Bool
        /// From before its name was wanted.
        var isOld = false
        /// It is in no history of the present journal.
        var isGone = false
        /// It was, until its journal came back: it comes again.
        var isBack = false
        var isDelivered = false
        /// A gap names it, or tells of a change of histories behind which it is hidden.
        var isClaimed = false
        var isHidden = false
    }
    struct Question: Hashable {
        let owner: UInt64
        let epoch: UInt64
        let after: UInt64
        var ancestry: [StreamRun] = []
        /// As they were when it was asked.
        let names: Set<String>?
    }
    struct RingRow: Hashable {
        let row: DurableJournal.Row
        let isTooLarge: Bool
    }
    struct RingPlace: Hashable {
        let epoch: UInt64
        /// Which ring.
        let number: UInt64
        var next: Int
    }
    typealias Machine = StreamMachine<DurableJournal.Row>

    // The service.
    var journal = DurableJournal()
    var backup = DurableJournal()
    /// What the last restored backup has replaced.
    var replaced: DurableJournal?
    var epoch: UInt64 = 0
    /// The number of the last run that was begun.
    var newest: UInt64 = 0
    /// What a mirror that is being rebuilt will have come to; nil: the service is none.
    var origin: DurableJournal?
    /// The mirror's last run has ended: nothing more comes of it.
    var isClosed = false
    /// The runs that a mirror has served.
    var mirrored: Set<UInt64> = []
    var isRunning = false
    var emitted: UInt64 = 0
    /// Of the ring that new readers get.
    var ringNumber: UInt64 = 0
    /// Events are sent to who attached and has no ring, not to everybody.
    let isRestricted: Bool
    var attached: Set<String>?? = .none
    var isHandedOver = false
    /// Where the stream stood at the last `Head`, whoever was told.
    var announced: UInt64 = 0
    // The bus.
    var wire: [Message] = []
    var isConnected = true
    // The relay.
    var machine: Machine
    var owner: UInt64 = 0
    var attaching: Question?
    var reading: Question?
    /// `OpenRing` was asked of this owner; its events come as signals; or by the ring that is being read.
    var opening: UInt64?
    var isRefused = false
    /// It was asked for once more, and signals count until it is there.
    var isRetrying = false
    var ring: RingPlace?
    /// What the rings had, and nobody read.
    var overwritten: Set<DurableJournal.Row> = []
    /// All rings, by their numbers, as far as they are still needed.
    var rings: [UInt64: [RingRow]] = [:]
    var names: Set<String>? = []
    var isFull = false
    // What is checked.
    let start: StreamStart
    let hasRings: Bool
    var facts: [Fact] = []
    /// Names of which every event that comes is due.
    var due: Set<String> = []
    var hasAnswered = false
    /// The newest run that the relay has heard of.
    var heard: UInt64 = 0
    /// What was wanted when nobody had the service's name, as long as nobody has answered since.
    var awaited: Set<String> = []
    /// The owner's first word came before any event of its run.
    var hasFirstWord = false
    var hasEvent = false
    var hasRead = false
    var wasRestored = false
    var lastDelivered: UInt64 = 0
    /// A gap said since that the history changed.
    var mayGoBack = false
    var faults: [String] = []

    /// The service had published `before`, with a backup made after so many of them, and was then stopped; nobody has its name.
    init(
        _ before: [String] = [], backedUp: Int = 0, from start: StreamStart = .now, hasRings: Bool = false,
        isRestricted: Bool = false
    ) {
        machine = Machine(from: start, isDurable: true, heldLimit: 2)
        (self.start, self.hasRings, self.isRestricted) = (start, hasRings, isRestricted)
        begin()
        for (index, name) in before.enumerated() {
            if index == backedUp { backup = journal }
            _ = commit(name)
        }
        if before.count == backedUp { backup = journal }
        (isRunning, wire) = (false, [])
        machine.ownerAbsent()
    }

    // MARK: Inputs

    /// False when the input changes nothing here.
    mutating func apply(_ input: Input) -> Bool {
        switch input {
        case .publishA: return publish("A", arrives: true)
        case .publishB: return publish("B", arrives: true)
        case .publishC: return publish("C", arrives: true)
        case .loseA: return publish("A", arrives: false)
        case .loseB: return publish("B", arrives: false)
        case .miss:
            if !canPublish { return false }
            emit(arrives: true)
            let row = journal.miss("A")
            facts.append(Fact(row: row, isDue: isDue(row)))
        case .rebuild: return rebuild()
        case .catchUp: return catchUp()
        case .closeRun: return closeRun()
        case .commitA:
            if !canPublish { return false }
            commit("A")
        case .start:
            if isRunning { return false }
            if origin == nil { begin() } else { appear() }
        case .stop:
            if !isRunning { return false }
            emit(arrives: true)
            send(.head(word, isLast: true))
            end()
        case .crash:
            if !isRunning { return false }
            end()
        case .cut:
            if !isConnected { return false }
            (isConnected, wire, attached, isHandedOver) = (false, [], .none, false)
            drain()
            loseOwner()
            run(machine.disconnected())
        case .reconnect:
            if isConnected { return false }
            isConnected = true
            if isRunning {
                owner = epoch
                (hasFirstWord, hasEvent) = (false, true)
                run(machine.ownerAppeared(isNew: false))
                if epoch > heard && !mirrored.contains(epoch) { count(awaited, from: epoch) }
                heard = max(heard, epoch)
            } else {
                machine.ownerAbsent()
                absent()
            }
        case .head:
            if !isRunning || !isConnected { return false }
            emit(arrives: true)
            announced = emitted
            // Who reads a ring, or did not attach, is not told.
            if !isRestricted || isServed { send(.head(word, isLast: false)) }
        case .tick:
            guard machine.needsTick else { return false }
            run(machine.tick())
        case .serve: return serve()
        case .bring:
            if wire.isEmpty { return false }
            // One by one: what comes may make the relay drop an answer behind it.
            while !wire.isEmpty { receive(wire.removeFirst()) }
        case .swap:
            guard wire.count > 1, wire[wire.count - 1] != wire[wire.count - 2], canMove(wire.count - 1),
                canMove(wire.count - 2)
            else { return false }
            wire.swapAt(wire.count - 1, wire.count - 2)
        case .duplicate:
            guard let message = wire.last, canMove(wire.count - 1) else { return false }
            if wire.count > 1 && wire[wire.count - 2] == message { return false }
            wire.append(message)
        case .timeout:
            if attaching == nil && reading == nil { return false }
            (attaching, reading) = (nil, nil)
            forgetAnswers()
            run(machine.unanswered())
        case .skipA:
            if !isRunning || !hasRings { return false }
            return publish("A", arrives: true, isTooLarge: true)
        case .fetch, .fetchAnyway:
            if ring == nil || machine.awaitsAnswer != (input == .fetchAnyway) { return false }
            if input == .fetchAnyway { machine.suspectLoss() }
            return fetch()
        case .lap:
            guard let ring, ring.next < rings[ring.number]?.count ?? 0 else { return false }
            loseRecord(ring)
            machine.suspectLoss()
        case .fault: return faultRing()
        case .replaceRing, .replaceUnheard, .detach:
            if !isRunning || !isConnected { return false }
            guard isHandedOver || input == .detach && attached != nil else { return false }
            emit(arrives: true)
            retireRing()
            if input == .detach { attached = .none }
            if input != .replaceUnheard { send(.reattach) }
        case .note:
            if !hasEndedRing { return false }
            reattach()
        case .prune:
            guard isRunning, origin == nil, journal.prune() else { return false }
        case .restore: return restore()
        case .undoRestore:
            guard let replaced else { return false }
            return replace(with: replaced)
        case .full:
            if isFull { return false }
            isFull = true
        case .room:
            if !isFull { return false }
            isFull = false
            run(machine.resume())
        case .wantNone: return want([])
        case .wantA: return want(["A"])
        case .wantBoth: return want(["A", "B"])
        case .wantAll: return want(nil)
        }
        return true
    }
}
