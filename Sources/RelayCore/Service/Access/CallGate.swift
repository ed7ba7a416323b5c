/// The calls that wait for what polkit says of their peers, as a value.
///
/// Those that read events wait in the order in which they came: an `Attach` is answered before a call of the same peer
/// that came behind it. Commands wait beside that order: a person may be asked about them.
struct CallGate {
    /// A call, and what happens when it may go on.
    struct Entry: Sendable {
        let call: IncomingCall
        let requirement: PeerRequirement
        /// What is asked for, for a message.
        let what: String
        let isCommand: Bool
        let credentials: PeerCredentials
        let proceed: @Sendable (ServiceCore, PeerCredentials?) -> Void

        var peer: String { call.sender }
        /// Whether a person may be asked about it.
        var isInteractive: Bool { isCommand && call.allowsInteraction }
    }
    /// How many prompts one peer, and one user, can have at once.
    static let promptsOfPeer = 4
    static let promptsOfUser = 16

    /// The first of each peer is the one that is decided.
    private var queues: [String: [(id: UInt64, entry: Entry)]] = [:]
    private var commands: [UInt64: Entry] = [:]
    private var quota = WaitingQuota()
    private var lastID: UInt64 = 0

    var isEmpty: Bool { queues.isEmpty && commands.isEmpty }
    var count: Int { queues.values.reduce(commands.count) { $0 + $1.count } }
    /// Whether a call of this peer that comes now has to wait for one before it.
    func isBusy(_ peer: String) -> Bool { queues[peer] != nil }
    func isWaiting(_ id: UInt64, _ peer: String) -> Bool {
        commands[id] != nil || queues[peer]?.contains { $0.id == id } == true
    }

    /// Lets a call wait: one that reads events, or one that came behind such a one. Returns why it must not.
    mutating func enqueue(_ entry: Entry) -> (id: UInt64, refusal: String?) {
        if let reason = admit(entry) { return (0, reason) }
        lastID += 1
        queues[entry.peer, default: []].append((lastID, entry))
        return (lastID, nil)
    }
    /// Lets a command wait beside the others. Returns why it must not.
    mutating func putAside(_ entry: Entry) -> (id: UInt64, refusal: String?) {
        if let reason = tooManyPrompts(entry) ?? admit(entry) { return (0, reason) }
        lastID += 1
        commands[lastID] = entry
        return (lastID, nil)
    }
    private mutating func admit(_ entry: Entry) -> String? {
        quota.admit(entry.peer, user: entry.credentials.userID, bytes: entry.call.body.count)
    }
    private func tooManyPrompts(_ entry: Entry) -> String? {
        guard entry.isInteractive else { return nil }
        let prompts = commands.values.lazy.filter(\.isInteractive)
        let ofPeer = prompts.count { $0.peer == entry.peer }
        if ofPeer >= Self.promptsOfPeer { return "\(ofPeer) commands of \(entry.peer) wait for a person already" }
        let user = entry.credentials.userID
        let ofUser = prompts.count { $0.credentials.userID == user }
        if ofUser < Self.promptsOfUser { return nil }
        return "\(ofUser) commands of \(user.map { "user \($0)" } ?? "unknown users") wait for a person already"
    }

    /// The call of this peer whose turn it is.
    func first(of peer: String) -> (id: UInt64, entry: Entry)? { queues[peer]?.first }
    /// It waits no longer.
    mutating func removeFirst(of peer: String) {
        guard let first = queues[peer]?.removeFirst() else { return }
        release(first.entry)
    }
    /// No call of this peer waits any more for one before it.
    mutating func close(_ peer: String) { if queues[peer]?.isEmpty == true { queues[peer] = nil } }
    /// A command waits no longer.
    mutating func remove(_ id: UInt64) {
        if let entry = commands.removeValue(forKey: id) { release(entry) }
    }
    private mutating func release(_ entry: Entry) {
        quota.release(entry.peer, user: entry.credentials.userID, bytes: entry.call.body.count)
    }
    /// A peer has left. Returns its questions that a person may be looking at.
    mutating func depart(_ peer: String) -> [UInt64] {
        for waiting in queues.removeValue(forKey: peer) ?? [] { release(waiting.entry) }
        let left = commands.filter { $0.value.peer == peer }
        for id in left.keys { remove(id) }
        return left.filter(\.value.isInteractive).keys.sorted()
    }
    /// Takes a command that its caller has cancelled, wherever it waits. Its id, if polkit was asked about it.
    mutating func takeCommand(_ serial: UInt32, of peer: String) -> (id: UInt64?, entry: Entry)? {
        if let (id, entry) = commands.first(where: { $0.value.peer == peer && $0.value.call.serial == serial }) {
            remove(id)
            return (id, entry)
        }
        let index = queues[peer]?.firstIndex { $0.entry.isCommand && $0.entry.call.serial == serial }
        guard let index, let waiting = queues[peer]?.remove(at: index) else { return nil }
        release(waiting.entry)
        return (nil, waiting.entry)
    }
    /// Takes all commands, in the order in which they came.
    mutating func takeCommands() -> [(id: UInt64, entry: Entry)] {
        let taken = commands.sorted { $0.key < $1.key }
        for one in taken { remove(one.key) }
        return taken.map { ($0.key, $0.value) }
    }
}
