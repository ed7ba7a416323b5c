@testable import RelayCore

/// A service, a bus that loses, and a relay's stream machine, as a value: one step at a time, all steps possible.
///
/// It keeps what the machine must get right, and says in `faults` where it did not.
struct StreamWorld {
    enum Input: CaseIterable {
        case publishA, publishB
        /// Published, and lost on the way.
        case loseA, loseB
        case start, stop, crash
        /// The relay's connection to the bus ends, and comes back.
        case cut, reconnect
        case head, loseHead
        /// Two seconds pass.
        case tick
        /// The service answers what it was asked.
        case serve
        /// The bus brings what it has.
        case bring
        case wantNone, wantA, wantB, wantAll
        /// The ring's thread reads a record; or one though an answer is waited for, because that takes too long.
        case fetch, fetchAnyway
        /// The oldest record that is not read yet is overwritten.
        case lap
        /// The ring turns out to be none.
        case fault
    }
    private enum Message {
        case opened(Int)
        case event(String, UInt64, UInt64)
        case answer(Int, Attachment)
        case head(StreamHead, isLast: Bool)
        case vanished
        case appeared(epoch: UInt64)
    }
    private struct Published {
        let epoch: UInt64
        let name: String
        let sequence: UInt64
        /// The subscription to its name that was in place, and must see it or a gap.
        var subscription: Int?
    }
    private struct Record {
        let name: String
        let sequence: UInt64
        let previous: UInt64
    }
    private typealias Machine = StreamMachine<(String, UInt64)>

    private var machine: Machine
    // The service.
    private var epoch: UInt64 = 0
    private var isRunning = false
    private var sequence: UInt64 = 0
    private var last: [String: UInt64] = [:]
    private var published: [Published] = []
    // The bus.
    private var wire: [Message] = []
    private var requests: [(generation: Int, epoch: UInt64)] = []
    private var isConnected = true
    // The rings of all runs; the one that is read, and from where; the question for it.
    private let hasRings: Bool
    private var rings: [UInt64: [Record]] = [:]
    private var ring: (epoch: UInt64, next: Int)?
    private var openings: [(generation: Int, epoch: UInt64)] = []
    private var isOpening = false
    /// The run of the owner that the relay knows.
    private var ownerEpoch: UInt64 = 0
    private var isRefused = false
    // The relay.
    private var generation = 0
    private var hasOwner = false
    private var wanted: Set<String> = []
    /// Names that are subscribed to for certain: an answer came since, or the run began afterwards.
    private var due: Set<String> = []
    /// Runs of which the news was lost.
    private var unheard: Set<UInt64> = []
    /// Counts the subscriptions to each name.
    private var subscriptions: [String: Int] = [:]
    private var delivered: [(epoch: UInt64, name: String, sequence: UInt64)] = []
    private var gaps: [(gap: Gap, names: Set<String>, runs: UInt64)] = []
    /// Whether anything happened that may cost an event.
    private var isLossy = false
    private(set) var faults: [String] = []

    init(hasRings: Bool = false) {
        self.hasRings = hasRings
        machine = Machine()
        machine.ownerAbsent()
    }

    // MARK: Inputs

    /// False when the input changes nothing here.
    mutating func apply(_ input: Input) -> Bool {
        switch input {
        case .publishA: return publish("A", arrives: true)
        case .publishB: return publish("B", arrives: true)
        case .loseA: return publish("A", arrives: false)
        case .loseB: return publish("B", arrives: false)
        case .start:
            if isRunning { return false }
            (isRunning, epoch, sequence, last) = (true, epoch + 1, 0, [:])
            send(.appeared(epoch: epoch))
            if isConnected { due = wanted }
        case .stop:
            if !isRunning { return false }
            send(.head(word, isLast: true))
            end()
        case .crash:
            if !isRunning { return false }
            isLossy = true
            end()
        case .cut:
            if !isConnected { return false }
            isLossy = true
            for message in wire { if case .appeared(let epoch) = message { unheard.insert(epoch) } }
            // A relay that waits knows that what it finds next is new to it; one that heard of no departure does not.
            forgetUnheard(but: isRunning && !hasOwner ? epoch : 0)
            (isConnected, wire, requests) = (false, [], [])
            drain()
            hasOwner = false
            generation += 1
            run(machine.disconnected())
            closeRing()
        case .reconnect:
            if isConnected { return false }
            isConnected = true
            if isRunning {
                (hasOwner, ownerEpoch) = (true, epoch)
                run(machine.ownerAppeared(isNew: false))
            } else {
                machine.ownerAbsent()
            }
        case .head, .loseHead:
            if !isRunning || sequence == 0 { return false }
            if input == .head { send(.head(word, isLast: false)) }
        case .tick:
            guard machine.needsTick else { return false }
            run(machine.tick())
        case .serve:
            if requests.isEmpty && openings.isEmpty { return false }
            for request in requests where isRunning && request.epoch == epoch {
                let answer = Attachment(epoch: epoch, from: 0, oldest: .max, head: sequence, last: last)
                send(.answer(request.generation, answer))
            }
            requests = []
            for opening in openings where isRunning && opening.epoch == epoch { send(.opened(opening.generation)) }
            openings = []
        case .bring:
            if wire.isEmpty { return false }
            let all = wire
            wire = []
            for message in all { receive(message) }
        case .fetch, .fetchAnyway:
            if machine.awaitsAnswer != (input == .fetchAnyway) { return false }
            if input == .fetchAnyway {
                // Of a new name it may have been the first.
                if machine.isSettled { isLossy = true }
                if unread != nil { machine.suspectLoss() }
            }
            return fetch()
        case .lap:
            if unread == nil { return false }
            isLossy = true
            ring?.next += 1
            machine.suspectLoss()
        case .fault:
            if ring == nil { return false }
            if unread != nil { isLossy = true }
            closeRing()
            isRefused = true
            run(machine.unanswered())
        case .wantNone: return want([])
        case .wantA: return want(["A"])
        case .wantB: return want(["B"])
        case .wantAll: return want(["A", "B"])
        }
        return true
    }
    private var word: StreamHead { StreamHead(epoch: epoch, sequence: sequence, last: last) }
    private mutating func send(_ message: Message) { if isConnected { wire.append(message) } }
    private mutating func publish(_ name: String, arrives: Bool) -> Bool {
        if !isRunning { return false }
        sequence += 1
        published.append(
            Published(
                epoch: epoch, name: name, sequence: sequence,
                subscription: due.contains(name) ? subscriptions[name] : nil))
        rings[epoch, default: []].append(Record(name: name, sequence: sequence, previous: last[name] ?? 0))
        // The bus has a rule for what is wanted, and brings nothing else: lost or not makes no difference then.
        if let ring {
            if !arrives { return false }
            // The first ring is gone, and the rules are not back yet: only the next ring's readers see this one.
            if ring.epoch != epoch { isLossy = true }
        } else if arrives {
            if isWanted(name) { send(.event(name, sequence, last[name] ?? 0)) }
        } else {
            if !isWanted(name) { return false }
            isLossy = true
        }
        last[name] = sequence
        return true
    }
    private func isWanted(_ name: String) -> Bool { wanted.count == 1 ? wanted.contains(name) : !wanted.isEmpty }
    private mutating func end() {
        send(.vanished)
        isRunning = false
        if !isConnected { forgetUnheard(but: 0) }
    }
    /// Nobody can know of a run that came and went while the relay was off the bus.
    private mutating func forgetUnheard(but kept: UInt64) {
        if isConnected && unheard.contains(epoch) && kept == 0 { due = [] }
        for index in published.indices where unheard.contains(published[index].epoch) && published[index].epoch != kept
        {
            published[index].subscription = nil
        }
    }
    private mutating func want(_ names: Set<String>) -> Bool {
        if names == wanted { return false }
        due.formIntersection(names)
        for name in names.subtracting(wanted) { subscriptions[name, default: 0] += 1 }
        // The owner took the name before, but the relay is yet to hear of it: it reports what it could not know.
        if wire.contains(where: { if case .appeared = $0 { true } else { false } }) { isLossy = true }
        wanted = names
        run(machine.want(names))
        if names.isEmpty { closeRing() }
        return true
    }

    // MARK: The relay

    private mutating func receive(_ message: Message) {
        switch message {
        case .event(let name, let sequence, let previous):
            // On the ring signals count for nothing.
            if hasOwner && ring == nil { receive(Record(name: name, sequence: sequence, previous: previous)) }
        case .opened(let number):
            guard number == generation, hasOwner, isOpening else { return }
            isOpening = false
            let (records, place) = (rings[ownerEpoch] ?? [], machine.place(inRun: ownerEpoch))
            let next = place.flatMap { place in records.firstIndex { $0.sequence > place } } ?? records.count
            ring = (ownerEpoch, next)
            machine.reportsLoss = true
            run(machine.unanswered())
        case .answer(let number, let answer):
            guard number == generation, hasOwner else { return }
            if ring != nil {
                run(machine.beginAttach(answer))
                while let next = unread, next.sequence <= answer.head { _ = fetch() }
            }
            run(machine.finishAttach(answer))
            if !machine.awaitsAnswer { drain() }
            // From here on; what was published before, but after the answer left, is not asked for.
            if answer.epoch == epoch { due = wanted }
        case .head(let head, let isLast):
            if !hasOwner { return }
            if ring != nil {
                if machine.awaitsAnswer && !isLast { return }
                drain()
            }
            run(machine.head(epoch: head.epoch, sequence: head.sequence, last: head.last, isLast: isLast))
        case .appeared(let epoch):
            (hasOwner, ownerEpoch) = (true, epoch)
            run(machine.ownerAppeared(isNew: true))
        case .vanished:
            drain()
            hasOwner = false
            generation += 1
            run(machine.ownerVanished())
            closeRing()
            isRefused = false
        }
    }
    private mutating func receive(_ record: Record) {
        let (name, sequence) = (record.name, record.sequence)
        let action = machine.receive(name, sequence, record.previous)
        run(action)
        switch action.event {
        case .drop: break
        case .hold: run(machine.hold(name, sequence, record.previous, (name, sequence)))
        case .deliver(let epoch): show(.deliver((name, sequence), epoch: epoch))
        }
    }
    private var unread: Record? {
        guard let ring, let records = rings[ring.epoch], ring.next < records.count else { return nil }
        return records[ring.next]
    }
    private mutating func fetch() -> Bool {
        guard let next = unread else { return false }
        ring?.next += 1
        receive(next)
        return true
    }
    private mutating func drain() { while fetch() {} }
    private mutating func closeRing() { (ring, isOpening, openings, machine.reportsLoss) = (nil, false, [], false) }
    private mutating func ask() {
        generation += 1
        if hasRings && ring == nil && !isRefused {
            isOpening = true
            let known = wire.contains { if case .vanished = $0 { true } else { false } } ? 0 : epoch
            openings = [(generation, known)]
            return
        }
        // The owner that the relay knows of may be gone by now; its name is asked, and nobody answers.
        let known = wire.contains { if case .vanished = $0 { true } else { false } } ? 0 : epoch
        requests.append((generation, known))
    }
    private mutating func run(_ action: Machine.Action) {
        for step in action.steps {
            switch step {
            case .attach: ask()
            case .show(let output): show(output)
            case .read: faults.append("a volatile stream was to be read")
            }
        }
    }
    private mutating func show(_ output: Machine.Output) {
        switch output {
        // The relay shows what is wanted only.
        case .deliver(let event, let epoch): if wanted.contains(event.0) { deliver(event.0, event.1, epoch) }
        case .gap(let gap): report(gap)
        }
    }
    private mutating func deliver(_ name: String, _ sequence: UInt64, _ epoch: UInt64) {
        if let before = delivered.last, before.epoch > epoch || before.epoch == epoch && before.sequence >= sequence {
            faults.append("\(epoch)#\(sequence) after \(before.epoch)#\(before.sequence)")
        }
        for (gap, names, _) in gaps where gap.epoch == epoch && names.contains(name) && gap.sequences.contains(sequence)
        {
            faults.append("\(name)#\(sequence) after a gap that claims it: \(gap.sequences)")
        }
        delivered.append((epoch, name, sequence))
    }
    private mutating func report(_ gap: Gap) {
        if !isLossy { faults.append("a gap where nothing was lost: \(gap.epoch)#\(gap.sequences)") }
        for event in delivered
        where event.epoch == gap.epoch && wanted.contains(event.name) && gap.sequences.contains(event.sequence) {
            faults.append("a gap that claims \(event.name)#\(event.sequence), which was delivered: \(gap.sequences)")
        }
        gaps.append((gap, wanted, epoch))
    }

    // MARK: The end

    /// Lets everything come to rest, and checks that nothing which was due is missing in silence.
    mutating func finish() {
        _ = apply(.reconnect)
        if !isRunning { _ = apply(.start) }
        for _ in 0..<4 {
            _ = apply(.bring)
            _ = apply(.serve)
            drainIfLive()
        }
        _ = apply(.bring)
        if ring != nil {
            // Nothing more comes for a while: a ring's reader asks about what it is in doubt of.
            for _ in 0..<3 {
                _ = apply(.tick)
                _ = apply(.serve)
                _ = apply(.bring)
                drainIfLive()
            }
            checkAccounts()
        }
        // Another event comes of each name, and the head.
        let names = wanted
        for name in names.sorted() { _ = publish(name, arrives: true) }
        drainIfLive()
        // Who reads a ring hears none.
        if ring == nil { _ = apply(.head) }
        _ = apply(.bring)
        checkAccounts()
        for name in names where !delivered.contains(where: { $0.epoch == epoch && $0.name == name }) {
            faults.append("the stream is deaf to \(name)")
        }
        if !machine.isSettled { faults.append("not settled") }
    }
    private mutating func checkAccounts() {
        for event in published
        where event.subscription == subscriptions[event.name] && wanted.contains(event.name) && !isAccounted(event) {
            faults.append("\(event.name)#\(event.sequence) of run \(event.epoch) is missing in silence")
        }
    }
    private mutating func drainIfLive() { if !machine.awaitsAnswer { drain() } }
    private func isAccounted(_ event: Published) -> Bool {
        delivered.contains { $0.epoch == event.epoch && $0.sequence == event.sequence }
            || gaps.contains { gap, names, runs in
                guard names.contains(event.name) else { return false }
                if gap.epoch == event.epoch && gap.sequences.contains(event.sequence) { return true }
                // Runs that were never joined have no other name than "the run changed".
                return gap.reason == .epochChanged && gap.epoch < event.epoch && event.epoch <= runs
            }
    }
}
