@testable import RelayCore

/// A relay's calls between a bus and the services that own one name after the other, as a value.
struct CallWorld: Hashable {
    typealias Machine = CallMachine<Int, Int>
    enum Input: CaseIterable {
        /// The relay makes a call: a command, one that can be sent once, one that needs no contract.
        case call, callOnce, standard
        /// The first call that has not ended is cancelled.
        case cancel
        /// The bus takes the relay's next message, and brings it to the owner, which it may start.
        case route
        /// The owner, or one before it, looks at its next message.
        case serve, serveFormer
        /// The bus brings the relay's next message.
        case bring
        /// The owner leaves because nobody uses it; dies with what it has not looked at; is replaced while it still runs.
        case exit, crash, replace
        /// What is started from now on has the other contract.
        case upgrade
        /// The relay loses the bus, and finds it again.
        case cut
        /// A while passes.
        case tick
    }
    private struct Message: Hashable {
        enum Content: Hashable {
            /// Asked when the relay had heard of so many owners.
            case question(heard: Int)
            case call(Machine.Entry, Int?)
        }
        let content: Content
        /// Nil: the name's owner.
        let to: Int?
        var isQuestion: Bool { if case .question = content { true } else { false } }
    }
    private enum News: Hashable {
        case contract(Int, heard: Int)
        case noContract
        case refused(Machine.Entry, Int)
        case done(Int)
        case owner(Int?)
    }
    private struct Run: Hashable {
        let contract: Int
        var inbox: [Message] = []
        var isAlive = true
        /// The calls that ran, in their order.
        var ran: [Int] = []
    }
    /// The relay calls the name, which the bus may start; else only an owner that it has verified.
    let callsName: Bool
    private var machine = Machine()
    private var toBus: [Message] = []
    private var toRelay: [News] = []
    private var runs: [Run] = []
    private var owner: Int?
    /// As the relay has heard of it.
    private var knownOwner: Int?
    /// Owners that the relay has heard of, and of how many when what it knows was asked for.
    private var (heard, confirmed) = (0, -1)
    private var installed = 0
    private var kinds: [Machine.Kind] = []
    private var ended: Set<Int> = []
    private var sends: [Int] = []
    /// The runs that each call has met.
    private var met: [[Int]] = []
    private(set) var questions = 0
    private(set) var faults: [String] = []
    static let calls = 3

    init(callsName: Bool) { self.callsName = callsName }

    /// Which calls ran, in all runs.
    var ran: [Int] { runs.flatMap(\.ran) }

    // MARK: Steps

    /// False where the input does nothing.
    mutating func apply(_ input: Input) -> Bool {
        switch input {
        case .call: return call(.command)
        case .callOnce: return call(.commandOnce)
        case .standard: return call(.standard)
        case .cancel:
            guard let first = kinds.indices.first(where: { !ended.contains($0) }) else { return false }
            ended.insert(first)
            _ = machine.remove { $0 == first }
            pump()
        case .route: return route()
        case .serve: return owner.map { serve($0) } ?? false
        case .serveFormer:
            guard let former = runs.indices.first(where: { $0 != owner && !runs[$0].inbox.isEmpty }) else {
                return false
            }
            return serve(former)
        case .bring: return bring()
        case .exit:
            guard let owner, runs[owner].inbox.isEmpty else { return false }
            leave(owner, for: nil)
        case .crash:
            guard let owner else { return false }
            leave(owner, for: nil)
        case .replace:
            if runs.count == 4 { return false }
            runs.append(Run(contract: 1 - (owner.map { runs[$0].contract } ?? installed)))
            own(runs.count - 1)
        case .upgrade: installed = 1 - installed
        case .cut:
            for message in toBus { lose(message) }
            for news in toRelay { if case .contract = news { toRelay.append(.noContract) } }
            // What had been sent has no answer any more.
            let failed = toRelay.contains(.noContract) || runs.contains { $0.inbox.contains { $0.isQuestion } }
            for number in kinds.indices
            where sends[number] > 0 && !machine.waiting.contains(where: { $0.call == number }) {
                ended.insert(number)
            }
            for index in runs.indices { runs[index].inbox.removeAll { $0.isQuestion } }
            (toBus, toRelay) = ([], [])
            if failed { questionFailed() }
            hear(owner)
            pump()
        case .tick:
            let before = machine
            machine.resume()
            if machine == before { return false }
            pump()
        }
        return true
    }
    private mutating func call(_ kind: Machine.Kind) -> Bool {
        let number = kinds.count
        if number == Self.calls { return false }
        kinds.append(kind)
        sends.append(0)
        met.append([])
        if mayGo, let step = machine.direct(number, kind) {
            perform(step)
        } else {
            _ = machine.wait(number, kind)
            pump()
        }
        return true
    }
    private var mayGo: Bool { callsName || knownOwner != nil }
    private mutating func pump() {
        while let step = machine.next(mayAsk: mayGo, maySend: { [mayGo] _ in mayGo }) { perform(step) }
    }
    private mutating func perform(_ step: Machine.Step) {
        let address = callsName ? nil : knownOwner
        switch step {
        case .ask:
            questions += 1
            toBus.append(Message(content: .question(heard: heard), to: address))
        case .send(let entry, let contract):
            let number = entry.call
            if ended.contains(number) { faults.append("\(number) was sent after its end") }
            if machine.waiting.contains(where: { $0.call < number }) { faults.append("\(number) overtook a call") }
            if (contract == nil) != (entry.kind == .standard) {
                faults.append("\(number) was sent for \(contract as Int?)")
            }
            sends[number] += 1
            if sends[number] > (entry.kind == .command ? Machine.resends + 1 : 1) {
                faults.append("\(number) was sent \(sends[number]) times")
            }
            if entry.kind == .commandOnce, confirmed != heard { faults.append("\(number) was sent for a guess") }
            toBus.append(Message(content: .call(entry, contract), to: address))
        }
    }
    private mutating func route() -> Bool {
        if toBus.isEmpty { return false }
        let message = toBus.removeFirst()
        if let to = message.to, !runs[to].isAlive {
            lose(message)
            return true
        }
        if message.to == nil && owner == nil {
            if runs.count == 4 {
                lose(message)
                return true
            }
            runs.append(Run(contract: installed))
            own(runs.count - 1)
        }
        guard let to = message.to ?? owner else { return true }
        if case .call(let entry, _) = message.content { met[entry.call].append(to) }
        runs[to].inbox.append(message)
        return true
    }
    private mutating func serve(_ run: Int) -> Bool {
        if runs[run].inbox.isEmpty { return false }
        let message = runs[run].inbox.removeFirst()
        switch message.content {
        case .question(let heard): toRelay.append(.contract(runs[run].contract, heard: heard))
        case .call(let entry, let contract):
            if let contract, contract != runs[run].contract {
                toRelay.append(.refused(entry, contract))
            } else {
                runs[run].ran.append(entry.call)
                toRelay.append(.done(entry.call))
                checkOrder()
            }
        }
        return true
    }
    private mutating func bring() -> Bool {
        if toRelay.isEmpty { return false }
        switch toRelay.removeFirst() {
        case .contract(let contract, let asked):
            machine.learned(contract)
            confirmed = asked
        case .noContract: questionFailed()
        case .refused(let entry, let contract):
            if ended.contains(entry.call) { break }
            switch machine.refused(entry, for: contract) {
            case .waits: break
            case .isOver: ended.insert(entry.call)
            case .isHopeless:
                if sends[entry.call] != Machine.resends + 1 { faults.append("\(entry.call) was given up") }
                ended.insert(entry.call)
            }
        case .done(let number): ended.insert(number)
        case .owner(let new): hear(new)
        }
        pump()
        return true
    }
    private mutating func hear(_ owner: Int?) {
        knownOwner = owner
        heard += 1
        machine.ownerChanged()
    }
    private mutating func questionFailed() {
        for number in machine.failed(isPassing: true) ?? [] { ended.insert(number) }
    }
    private mutating func own(_ run: Int) {
        owner = run
        toRelay.append(.owner(run))
    }
    private mutating func leave(_ run: Int, for next: Int?) {
        owner = next
        runs[run].isAlive = false
        let inbox = runs[run].inbox
        runs[run].inbox = []
        toRelay.append(.owner(nil))
        for message in inbox { lose(message) }
    }
    /// The bus answers that there will be no answer.
    private mutating func lose(_ message: Message) {
        switch message.content {
        case .question: toRelay.append(.noContract)
        case .call(let entry, _): toRelay.append(.done(entry.call))
        }
    }

    // MARK: Checks

    private mutating func checkOrder() {
        let all = ran
        if Set(all).count != all.count { faults.append("a call ran twice: \(all)") }
        for (index, later) in all.enumerated() {
            for earlier in all[(index + 1)...] where earlier < later && met[earlier] == met[later] {
                faults.append("\(later) ran before \(earlier)")
            }
        }
    }
    /// Whatever is on its way arrives, and nothing else happens: every call ends.
    mutating func finish() {
        for _ in 1...200 {
            let steps: [Input] = [.bring, .route, .serve, .serveFormer, .tick]
            if let step = steps.first(where: {
                var copy = self; return copy.apply($0)
            }) {
                _ = apply(step)
            } else if !callsName, owner == nil, runs.count < 5, kinds.indices.contains(where: { !ended.contains($0) }) {
                // It is started by somebody.
                runs.append(Run(contract: installed))
                own(runs.count - 1)
            } else {
                break
            }
        }
        let open = kinds.indices.filter { !ended.contains($0) }
        if !open.isEmpty { faults.append("\(open) have not ended") }
        if !machine.isEmpty { faults.append("calls wait") }
    }
}
