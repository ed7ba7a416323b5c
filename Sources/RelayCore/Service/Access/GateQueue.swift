/// The calls that wait for what polkit says of their peers, as a value.
///
/// Those that read events wait in the order in which they came: an `Attach` is answered before a call of the same peer
/// that came behind it. Commands wait beside that order: a person may be asked about them.
struct GateQueue {
    /// A call, and what happens when it may go on.
    struct Entry: Sendable {
        let call: IncomingCall
        let requirement: PeerRequirement
        /// What is asked for, for a message.
        let what: String
        let isCommand: Bool
        let credentials: PeerCredentials
        let proceed: @Sendable (PeerCredentials?) -> Void

        var peer: String { call.sender }
        /// Whether a person may be asked about it.
        var isInteractive: Bool { isCommand && call.allowsInteraction }
    }
    /// Counted while it waits: as a call, and where a person is asked, as a prompt.
    private struct Waiting {
        let id: UInt64
        let entry: Entry
        let charges: [PeerLedger.Charge]
    }
    /// The first of each peer is the one that is decided.
    private var queues: [String: [Waiting]] = [:]
    private var commands: [UInt64: Waiting] = [:]
    private var lastID: UInt64 = 0
    private let ledger: PeerLedger

    init(_ ledger: PeerLedger) { self.ledger = ledger }

    var isEmpty: Bool { queues.isEmpty && commands.isEmpty }
    var count: Int { queues.values.reduce(commands.count) { $0 + $1.count } }
    /// Whether a call of this peer that comes now has to wait for one before it.
    func isBusy(_ peer: String) -> Bool { queues[peer] != nil }
    func isWaiting(_ id: UInt64, _ peer: String) -> Bool {
        commands[id] != nil || queues[peer]?.contains { $0.id == id } == true
    }

    /// Lets a call wait: one that reads events, or one that came behind such a one. Returns why it must not.
    mutating func enqueue(_ entry: Entry) -> (id: UInt64, refusal: String?) {
        do throws(PeerLedger.Refusal) {
            let waiting = try admit(entry)
            queues[entry.peer, default: []].append(waiting)
            return (waiting.id, nil)
        } catch { return (0, error.message) }
    }
    /// Lets a command wait beside the others. Returns why it must not.
    mutating func putAside(_ entry: Entry) -> (id: UInt64, refusal: String?) {
        do throws(PeerLedger.Refusal) {
            let prompts = entry.isInteractive ? [try ledger.charge(.prompts, to: entry.peer)] : []
            let waiting = try admit(entry, prompts)
            commands[waiting.id] = waiting
            return (waiting.id, nil)
        } catch { return (0, error.message) }
    }
    private mutating func admit(
        _ entry: Entry, _ prompts: [PeerLedger.Charge] = []
    ) throws(PeerLedger.Refusal) -> Waiting {
        let charge = try ledger.charge(
            call: .gateCalls, arguments: .gateBytes, entry.call.body.count, to: entry.peer)
        lastID += 1
        return Waiting(id: lastID, entry: entry, charges: prompts + [charge])
    }

    /// The call of this peer whose turn it is.
    func first(of peer: String) -> (id: UInt64, entry: Entry)? { queues[peer]?.first.map { ($0.id, $0.entry) } }
    /// It waits no longer.
    mutating func removeFirst(of peer: String) {
        _ = queues[peer]?.removeFirst()
    }
    /// No call of this peer waits any more for one before it.
    mutating func close(_ peer: String) { if queues[peer]?.isEmpty == true { queues[peer] = nil } }
    /// A command waits no longer.
    mutating func remove(_ id: UInt64) { commands[id] = nil }
    /// A peer has left. Returns its questions that a person may be looking at.
    mutating func depart(_ peer: String) -> [UInt64] {
        queues[peer] = nil
        let left = commands.filter { $0.value.entry.peer == peer }
        for id in left.keys { remove(id) }
        return left.filter(\.value.entry.isInteractive).keys.sorted()
    }
    /// Takes a command that its caller has cancelled, wherever it waits. Its id, if polkit was asked about it.
    mutating func takeCommand(_ serial: UInt32, of peer: String) -> (id: UInt64?, entry: Entry)? {
        let command = commands.values.first { $0.entry.peer == peer && $0.entry.call.serial == serial }
        if let command {
            remove(command.id)
            return (command.id, command.entry)
        }
        let index = queues[peer]?.firstIndex { $0.entry.isCommand && $0.entry.call.serial == serial }
        guard let index, let waiting = queues[peer]?.remove(at: index) else { return nil }
        return (nil, waiting.entry)
    }
    /// Takes a peer's calls of a method that wait to read events of an object. Also returns the id of the peer's first
    /// call, if that is one of them: polkit is asked about it, and `goOn` decides about the next.
    mutating func takeReads(_ member: String, at path: String, of peer: String) -> (taken: [Entry], first: UInt64?) {
        func isMeant(_ entry: Entry) -> Bool {
            !entry.isCommand && entry.call.member == member && entry.call.path == path
        }
        guard let queue = queues[peer] else { return ([], nil) }
        let taken = queue.filter { isMeant($0.entry) }
        queues[peer] = queue.filter { !isMeant($0.entry) }
        return (taken.map(\.entry), queue.first.flatMap { isMeant($0.entry) ? $0.id : nil })
    }
    /// Takes all commands, in the order in which they came.
    mutating func takeCommands() -> [(id: UInt64, entry: Entry)] {
        let taken = commands.sorted { $0.key < $1.key }
        commands = [:]
        return taken.map { ($0.key, $0.value.entry) }
    }
}
