import Glibc

/// The calls that wait for an answer, as a value: each ends exactly once, by the peer that was asked.
struct PendingCalls {
    typealias Completion = @Sendable (Result<BusReply, RelayError>) -> Void
    struct Entry: Sendable {
        let destination: String
        /// The interface and the member, until somebody asks: most calls need no title.
        private let name: (interface: String, member: String)
        /// The answer may have file descriptors anywhere.
        var takesDescriptors = false
        /// The answer is to be reported as read.
        var isConfirmed = false
        let completion: Completion
        var timer: UInt64 = 0
        /// When it was added, by `NameOwners.now`.
        fileprivate(set) var moment: UInt64 = 0
        /// Answers of peers that are not known to have the destination's name.
        fileprivate(set) var held: [HeldAnswer] = []

        init(_ call: MethodCall, completion: @escaping Completion) {
            (destination, name, self.completion) = (call.destination, (call.interface, call.member), completion)
            (takesDescriptors, isConfirmed) = (call.takesDescriptors, call.isConfirmed)
        }
        /// For messages to people.
        var title: String { MethodCall.title(name.interface, name.member, at: destination) }
    }
    /// An answer, copied out of its message.
    struct HeldAnswer: Sendable {
        let sender: String
        let result: Result<BusReply, RelayError>
        /// In bytes.
        let size: Int
    }
    enum Answer {
        /// The call that it answers, which has ended by it.
        case ends(Entry)
        /// It may answer this call: it is not known whether its sender has the name that was called.
        case isDoubtful(Entry)
        case isStray
    }
    private var entries: [UInt32: Entry] = [:]
    private var lastSerial: UInt32
    private let drawsSerials: Bool
    private var drawn: [UInt32] = []
    private(set) var isClosed = false
    var owners = NameOwners()
    private var heldBytes = 0
    /// For one call.
    static let heldLimit = 8
    /// For all together, in bytes.
    static let heldBytesLimit = 16 << 20

    /// Serials come from the upper half, which libdbus never reaches, and start anywhere in it.
    ///
    /// - Parameter drawsSerials: whether those of calls are random: a peer that was asked before cannot tell the next
    ///   one, and answer a call before it is sent.
    init(startingAt start: UInt32, drawsSerials: Bool = false) {
        lastSerial = start | Self.upperHalf
        self.drawsSerials = drawsSerials
    }
    private static let upperHalf: UInt32 = 0x8000_0000

    var count: Int { entries.count }
    /// One of those that wait, for a person.
    var someTitle: String? { entries.first?.value.title }

    mutating func nextSerial() -> UInt32 {
        repeat { lastSerial = lastSerial == .max ? Self.upperHalf : lastSerial + 1 } while entries[lastSerial] != nil
        return lastSerial
    }
    mutating func callSerial() -> UInt32 {
        if !drawsSerials { return nextSerial() }
        var serial: UInt32
        repeat { serial = draw() | Self.upperHalf } while entries[serial] != nil
        return serial
    }
    /// Many are drawn at once: each time is a system call.
    private mutating func draw() -> UInt32 {
        if let last = drawn.popLast() { return last }
        drawn = [UInt32](repeating: 0, count: 64)
        // Within the array's bounds, and 256 bytes, which are given at once.
        let isDrawn = drawn.withUnsafeMutableBytes { getentropy($0.baseAddress, $0.count) == 0 }
        if !isDrawn { for place in drawn.indices { drawn[place] = .random(in: 0...UInt32.max) } }
        return drawn.removeLast()
    }
    /// False when the connection is closed: the call ends at once.
    mutating func add(_ entry: Entry, serial: UInt32) -> Bool {
        if isClosed { return false }
        var entry = entry
        entry.moment = owners.now
        entries[serial] = entry
        return true
    }
    mutating func setTimer(_ timer: UInt64, of serial: UInt32) -> Bool {
        if entries[serial] == nil { return false }
        entries[serial]?.timer = timer
        return true
    }
    mutating func remove(_ serial: UInt32) -> Entry? {
        guard let entry = entries.removeValue(forKey: serial) else { return nil }
        if !entry.held.isEmpty { heldBytes -= entry.held.reduce(0) { $0 + $1.size } }
        return entry
    }

    // MARK: Answers

    /// What a reply is. It ends a call if it comes from the call's destination, from a peer that has had the
    /// destination's name since the call was sent, or from the bus in its place.
    mutating func answered(by sender: String?, serial: UInt32) -> Answer {
        guard let entry = entries[serial], let sender else { return .isStray }
        let destination = entry.destination
        if sender == destination || sender == Self.bus { return remove(serial).map { .ends($0) } ?? .isStray }
        if Self.isPeer(destination) { return .isStray }
        if owners.hadName(sender, destination, since: entry.moment) {
            return remove(serial).map { .ends($0) } ?? .isStray
        }
        return .isDoubtful(entry)
    }
    /// Keeps a doubtful answer until the bus has answered who has the name. False: there is no room, or it is one too
    /// many of its sender.
    mutating func hold(_ answer: HeldAnswer, for serial: UInt32) -> Bool {
        guard let held = entries[serial]?.held, held.count < Self.heldLimit,
            !held.contains(where: { $0.sender == answer.sender }), answer.size <= Self.heldBytesLimit - heldBytes
        else { return false }
        entries[serial]?.held.append(answer)
        heldBytes += answer.size
        return true
    }
    /// Whether answers wait for a word about this name.
    func holdsAnswers(for name: String) -> Bool {
        heldBytes > 0 && entries.values.contains { $0.destination == name && !$0.held.isEmpty }
    }
    /// What becomes of held answers.
    struct Judgement: Sendable {
        /// The calls that end by one, in the order of their serials.
        var ended: [(entry: Entry, answer: HeldAnswer)] = []
        /// Whose answers are dropped.
        var dropped: [String] = []
    }
    /// What is known of a name has changed.
    ///
    /// - Parameter isLastWord: answers of peers that have not had the name are dropped.
    mutating func judge(_ name: String, isLastWord: Bool) -> Judgement {
        var judgement = Judgement()
        if heldBytes == 0 { return judgement }
        for (serial, entry) in entries.sorted(by: { $0.key < $1.key })
        where entry.destination == name && !entry.held.isEmpty {
            let answer = entry.held.first { owners.hadName($0.sender, name, since: entry.moment) }
            let others = entry.held.map(\.sender).filter { $0 != answer?.sender }
            if let answer, let entry = remove(serial) {
                judgement.ended.append((entry, answer))
                judgement.dropped += others
            } else if isLastWord {
                heldBytes -= entry.held.reduce(0) { $0 + $1.size }
                entries[serial]?.held = []
                judgement.dropped += others
            }
        }
        return judgement
    }
    /// Whether a destination is one peer and no other at any time: a unique name, or the bus itself.
    static func isPeer(_ destination: String) -> Bool {
        destination.utf8.first == UInt8(ascii: ":") || destination == bus
    }
    private static let bus = "org.freedesktop.DBus"

    /// Ends all, and takes no more.
    mutating func close() -> [Entry] {
        isClosed = true
        defer { (entries, heldBytes) = ([:], 0) }
        return entries.sorted { $0.key < $1.key }.map(\.value)
    }
}
