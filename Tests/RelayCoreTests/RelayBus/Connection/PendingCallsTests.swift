import Synchronization
import Testing

@testable import RelayBus

@Suite("Waiting calls") struct PendingCallsTests {
    private static func entry(_ destination: String = ":1.5") -> PendingCalls.Entry {
        PendingCalls.Entry(.test(destination), completion: { _ in })
    }

    @Test("serials stay in the upper half, wrap there, and pass over those in use") func serials() {
        var calls = PendingCalls(startingAt: UInt32.max - 2)
        #expect(calls.nextSerial() == UInt32.max - 1)
        #expect(calls.nextSerial() == .max)
        #expect(calls.add(Self.entry(), serial: 0x8000_0000) == true)
        #expect(calls.add(Self.entry(), serial: 0x8000_0001) == true)
        #expect(calls.nextSerial() == 0x8000_0002)
        for start in [0, 1, 0x7FFF_FFFF, 0x8000_0000, UInt32.max] {
            var calls = PendingCalls(startingAt: start)
            for _ in 0..<3 { #expect(calls.nextSerial() >= 0x8000_0000) }
        }
    }

    private enum Step: CaseIterable { case add, setTimer, answer, wrongAnswer, finish, close }

    /// Every sequence of six steps over one serial, against the plain rules.
    @Test("ends each call exactly once, in every order of events") func exhaustive() {
        var checked = 0
        func visit(_ calls: PendingCalls, waits: Bool, isClosed: Bool, timer: UInt64, depth: Int) {
            #expect(calls.count == (waits ? 1 : 0) && calls.isClosed == isClosed)
            checked += 1
            if depth == 0 { return }
            for step in Step.allCases {
                if step == .add && waits { continue }  // A serial is used once at a time: `nextSerial` sees to it.
                var (calls, waits, isClosed, timer) = (calls, waits, isClosed, timer)
                switch step {
                case .add:
                    #expect(calls.add(Self.entry(), serial: 9) == !isClosed)
                    (waits, timer) = (!isClosed, 0)
                case .setTimer:
                    #expect(calls.setTimer(3, of: 9) == waits)
                    if waits { timer = 3 }
                case .wrongAnswer:
                    #expect(calls.answered(by: ":1.6", serial: 9).isStray)
                    #expect(calls.answered(by: nil, serial: 9).isStray)
                    #expect(calls.answered(by: ":1.5", serial: 8).isStray)
                case .answer, .finish:
                    let ended = step == .answer ? calls.answered(by: ":1.5", serial: 9).ended : calls.remove(9)
                    #expect((ended != nil) == waits)
                    if waits { #expect(ended?.timer == timer) }
                    waits = false
                case .close:
                    #expect(calls.close().count == (waits ? 1 : 0))
                    (waits, isClosed) = (false, true)
                }
                visit(calls, waits: waits, isClosed: isClosed, timer: timer, depth: depth - 1)
            }
        }
        visit(PendingCalls(startingAt: 0), waits: false, isClosed: false, timer: 0, depth: 6)
        #expect(checked > 5_000)
    }

    @Test(
        "takes answers only from whom was asked, or from the bus in its place",
        arguments: [
            (":1.5", ":1.5", true), (":1.5", ":1.6", false), (":1.5", "org.freedesktop.DBus", true),
            ("org.freedesktop.DBus", "org.freedesktop.DBus", true), ("org.freedesktop.DBus", ":1.6", false),
            ("org.example.A", ":1.6", false), ("org.example.A", "org.freedesktop.DBus", true),
        ])
    func answers(destination: String, sender: String, isTaken: Bool) {
        var calls = PendingCalls(startingAt: 0)
        _ = calls.add(Self.entry(destination), serial: 9)
        #expect((calls.answered(by: sender, serial: 9).ended != nil) == isTaken)
        #expect(calls.count == (isTaken ? 0 : 1))
    }
    @Test("drawn serials are in the upper half, and not in use") func drawn() {
        var calls = PendingCalls(startingAt: 0, drawsSerials: true)
        var seen: Set<UInt32> = []
        for _ in 0..<2_000 {
            let serial = calls.callSerial()
            #expect(serial >= 0x8000_0000 && seen.insert(serial).inserted)
            _ = calls.add(Self.entry(), serial: serial)
        }
        // One after the other they would be a run of 2,000.
        #expect((seen.max() ?? 0) - (seen.min() ?? 0) > 1_000_000)
    }

    // MARK: Calls to a well-known name

    private static let name = "org.example.A"
    private static func answer(_ sender: String, size: Int = 1) -> PendingCalls.HeldAnswer {
        PendingCalls.HeldAnswer(
            sender: sender, result: .success(BusReply(sender: sender, signature: "", body: [])), size: size)
    }
    /// What is learnt of a name while a call to it is on its way.
    private enum Change {
        case passes(String?, String?), isOf(NameOwnership), doubt
        static let all: [Self] = {
            let owners = [nil, ":1.1", ":1.2"]
            let changes = owners.flatMap { old in owners.filter { $0 != old }.map { Self.passes(old, $0) } }
            return changes + [.isOf(.owner(":1.1")), .isOf(.owner(":1.2")), .isOf(.nobody), .isOf(.unknown), .doubt]
        }()
    }
    /// Every sequence of changes before and after a call: an answer ends it at once exactly if its sender is known to
    /// have had the name since the call was sent.
    @Test("only a peer that has had the name since the call was sent ends it at once") func tenures() {
        var (checked, taken) = (0, 0)
        func visit(_ owners: NameOwners, _ calls: PendingCalls?, present: String?, had: Set<String>, depth: Int) {
            if var calls {
                calls.owners = owners
                for peer in [":1.1", ":1.2"] {
                    var calls = calls
                    let answer = calls.answered(by: peer, serial: 9)
                    #expect((answer.ended != nil) == had.contains(peer) && !answer.isStray)
                    taken += answer.ended == nil ? 0 : 1
                    checked += 1
                }
            } else {
                // The call is sent now.
                var calls = PendingCalls(startingAt: 0)
                calls.owners = owners
                _ = calls.add(Self.entry(Self.name), serial: 9)
                visit(owners, calls, present: present, had: present.map { [$0] } ?? [], depth: depth)
            }
            if depth == 0 { return }
            for change in Change.all {
                var (owners, present, had) = (owners, present, had)
                switch change {
                case .passes(let old, let new):
                    owners.announced(OwnerChange(of: Self.name, from: old, to: new))
                    if let old { had.insert(old) }
                    present = new
                case .isOf(let ownership):
                    owners.answered(ownership, of: Self.name)
                    switch ownership {
                    case .owner(let owner): present = owner
                    case .nobody: present = nil
                    case .unknown: break
                    }
                case .doubt:
                    owners.doubt()
                    present = nil
                }
                if let present { had.insert(present) }
                visit(owners, calls, present: present, had: had, depth: depth - 1)
            }
        }
        var owners = NameOwners()
        #expect([owners.follow(Self.name), owners.follow(Self.name)] == [true, false])
        #expect(owners.isFollowed(Self.name))
        visit(owners, nil, present: nil, had: [], depth: 4)
        #expect(checked > 20_000 && taken > 10_000, "\(checked) \(taken)")
    }
    @Test("a doubtful answer is kept until the bus has answered who has the name") func doubtful() {
        var calls = PendingCalls(startingAt: 0)
        _ = calls.owners.follow(Self.name)
        _ = calls.add(Self.entry(Self.name), serial: 9)
        for peer in [":1.6", ":1.5", ":1.7"] {
            #expect(calls.answered(by: peer, serial: 9).isDoubtful)
            #expect([calls.hold(Self.answer(peer), for: 9), calls.hold(Self.answer(peer), for: 9)] == [true, false])
        }
        #expect(calls.holdsAnswers(for: Self.name) && !calls.holdsAnswers(for: "org.example.B"))
        // One question at a time.
        #expect([calls.owners.ask(Self.name), calls.owners.ask(Self.name)] == [true, false])
        calls.owners.answered(.unknown, of: Self.name)
        #expect(calls.judge(Self.name, isLastWord: false).ended.isEmpty && calls.holdsAnswers(for: Self.name))
        #expect(calls.owners.ask(Self.name) == true)
        calls.owners.answered(.owner(":1.5"), of: Self.name)
        let judgement = calls.judge(Self.name, isLastWord: true)
        #expect(judgement.ended.map(\.answer.sender) == [":1.5"] && judgement.dropped == [":1.6", ":1.7"])
        #expect(calls.count == 0 && !calls.holdsAnswers(for: Self.name))
    }
    @Test("answers of others are dropped then, and the call goes on waiting") func dropped() {
        var calls = PendingCalls(startingAt: 0)
        _ = calls.owners.follow(Self.name)
        for serial: UInt32 in [9, 10] { _ = calls.add(Self.entry(Self.name), serial: serial) }
        for serial: UInt32 in [9, 10] { #expect(calls.hold(Self.answer(":1.6"), for: serial) == true) }
        calls.owners.answered(.nobody, of: Self.name)
        #expect(calls.judge(Self.name, isLastWord: true).ended.isEmpty && calls.count == 2)
        #expect(!calls.holdsAnswers(for: Self.name))
        // Who gets the name later may answer the call, which waits for somebody who has it.
        calls.owners.announced(OwnerChange(of: Self.name, from: nil, to: ":1.6"))
        #expect(calls.answered(by: ":1.6", serial: 9).ended != nil)
        #expect(calls.answered(by: ":1.7", serial: 10).isDoubtful)
    }
    @Test("what is kept is bounded by number and size, and given back") func bounds() {
        var calls = PendingCalls(startingAt: 0)
        _ = calls.owners.follow(Self.name)
        for serial: UInt32 in [9, 10, 11] { _ = calls.add(Self.entry(Self.name), serial: serial) }
        #expect(calls.hold(Self.answer(":1.1", size: PendingCalls.heldBytesLimit + 1), for: 9) == false)
        for number in 0..<PendingCalls.heldLimit {
            #expect(calls.hold(Self.answer(":1.\(number)"), for: 9) == true)
        }
        for serial: UInt32 in [9, 12] { #expect(calls.hold(Self.answer(":1.99"), for: serial) == false) }
        #expect(calls.remove(9) != nil)
        #expect(calls.hold(Self.answer(":1.1", size: PendingCalls.heldBytesLimit), for: 10) == true)
        #expect(calls.hold(Self.answer(":1.1"), for: 11) == false)
        calls.owners.answered(.nobody, of: Self.name)
        #expect(calls.judge(Self.name, isLastWord: true).ended.isEmpty)
        #expect(calls.hold(Self.answer(":1.1", size: PendingCalls.heldBytesLimit), for: 11) == true)
    }
    @Test("an owner whose changes the bus does not announce counts for the calls that it was asked about") func silent()
    {
        var calls = PendingCalls(startingAt: 0)
        _ = calls.owners.follow(Self.name)
        calls.owners.isSilent(Self.name)
        _ = calls.add(Self.entry(Self.name), serial: 9)
        calls.owners.answered(.owner(":1.5"), of: Self.name)
        _ = calls.add(Self.entry(Self.name), serial: 10)
        #expect(calls.answered(by: ":1.5", serial: 9).ended != nil)
        #expect(calls.answered(by: ":1.5", serial: 10).isDoubtful)
    }
    @Test("however often it is doubted who has a name, its former owners are remembered") func doubts() {
        var calls = PendingCalls(startingAt: 0)
        _ = calls.owners.follow(Self.name)
        calls.owners.answered(.owner(":1.5"), of: Self.name)
        _ = calls.add(Self.entry(Self.name), serial: 9)
        calls.owners.announced(OwnerChange(of: Self.name, from: ":1.5", to: ":1.6"))
        for _ in 0..<100 {
            calls.owners.doubt()
            calls.owners.answered(.owner(":1.6"), of: Self.name)
        }
        #expect(calls.answered(by: ":1.5", serial: 9).ended != nil)
    }
    @Test("all end in the order of their serials when the connection closes") func closing() {
        var calls = PendingCalls(startingAt: 0)
        for number: UInt64 in [5, 3, 9, 1] {
            _ = calls.add(Self.entry(), serial: UInt32(number))
            _ = calls.setTimer(number, of: UInt32(number))
        }
        #expect(calls.close().map(\.timer) == [1, 3, 5, 9])
        #expect(calls.close().count == 0)
    }
}

extension PendingCalls.Answer {
    fileprivate var ended: PendingCalls.Entry? { if case .ends(let entry) = self { entry } else { nil } }
    fileprivate var isDoubtful: Bool { if case .isDoubtful = self { true } else { false } }
    fileprivate var isStray: Bool { if case .isStray = self { true } else { false } }
}
