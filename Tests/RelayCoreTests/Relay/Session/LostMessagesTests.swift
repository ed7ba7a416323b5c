import TestTraits
import Testing

@testable import RelayCore

/// A bus that drops any of its messages, with the name's owners, and a session on it that verifies them.
private struct LossyWorld: Hashable {
    private typealias Session = ServiceSession<Int>
    enum Input: CaseIterable {
        case firstTakes, secondTakes, leaves
        /// The same, and the announcement is lost.
        case firstTakesUnheard, secondTakesUnheard, leavesUnheard
        /// To the question who has the name.
        case answer, answerIsLost
        /// To the look-up of the candidate's credentials.
        case lookUp, lookUpIsLost
        case rechecks, due, strangerSends
    }
    private var session = Session(countLimit: 1, costLimit: 1)
    private(set) var owner: String?
    private var isAsked = false
    private var ordered: Session.Pace?
    /// The look-up on its way, and the one that is to be repeated: of which candidate.
    private var lookUp: Int?
    private var recheck: Int?
    /// A call waits, from now on.
    private var isWaiting = false

    /// Connected, and the first question is on its way.
    init() {
        _ = session.activate()
        isAsked = session.connected() == .askForOwner
    }
    var generation: Int { session.generation }
    /// It knows what is so.
    var isRight: Bool { session.isOwnershipKnown && session.owner == owner && session.candidate == nil }

    mutating func apply(_ input: Input) {
        switch input {
        case .firstTakes: owner = ":1.1"
        case .secondTakes: owner = ":1.2"
        case .leaves: owner = nil
        case .firstTakesUnheard: owner = ":1.1"
        case .secondTakesUnheard: owner = ":1.2"
        case .leavesUnheard: owner = nil
        case .answer, .answerIsLost:
            if !isAsked { return }
            isAsked = false
            let truth = owner.map { NameOwnership.owner($0) } ?? .nobody
            let answer = session.ownerAnswered(
                input == .answer ? truth : .unknown, isWaiting: isWaiting || lookUp != nil)
            follow(answer.next)
            change(answer.change)
            if answer.isToBeRechecked { recheck = session.generation }
        case .lookUp:
            guard let asked = lookUp else { return }
            lookUp = nil
            // The bus knows nobody of that name any more.
            if asked == session.generation, session.candidate != owner { return follow(session.ownerOwes()) }
            _ = session.ownerVerified(asked)
        case .lookUpIsLost:
            if let asked = lookUp { (lookUp, recheck) = (nil, asked) }
        case .rechecks:
            guard let asked = recheck else { return }
            recheck = nil
            if case .verify(let candidate) = session.recheck(asked) { lookUp = candidate.generation }
        case .due:
            guard ordered != nil else { return }
            ordered = nil
            follow(session.inquiryDue(isWaiting: isWaiting))
        case .strangerSends: follow(session.strangerSent())
        }
        switch input {
        case .firstTakes, .secondTakes, .leaves: change(session.ownerChanged(to: owner))
        default: break
        }
    }
    private mutating func change(_ change: Session.OwnerChange) {
        switch change {
        case .ignored: return
        case .absent, .vanished: break
        case .appeared(let candidate), .replaced(_, by: let candidate): lookUp = candidate.generation
        }
        if session.owner == nil { follow(session.beganWaiting()) }
    }
    private mutating func follow(_ inquiry: Session.Inquiry) {
        switch inquiry {
        case .ignored: break
        case .ask: (isAsked, ordered) = (true, nil)
        case .order(let pace): ordered = pace
        }
    }
    /// From now on nothing is lost, and nothing changes. Returns how many seconds pass until the session knows what is
    /// so; nil: it never does.
    func recovers(whileWaiting isWaiting: Bool = false) -> Int? {
        var (world, seconds) = (self, 0)
        world.isWaiting = isWaiting
        if isWaiting { world.follow(world.session.beganWaiting()) }
        for _ in 0..<16 {
            if world.isRight { return seconds }
            if world.isAsked {
                world.apply(.answer)
            } else if world.lookUp != nil {
                world.apply(.lookUp)
            } else if world.recheck != nil {
                seconds += 1
                world.apply(.rechecks)
            } else {
                switch world.ordered {
                case .soon: seconds += 1
                case .prompt: seconds += 5
                case .leisurely: seconds += 30
                case nil: return nil
                }
                world.apply(.due)
            }
        }
        return nil
    }
}

/// No state of a session rests on one message of the bus, by trying everything.
@Suite("A session whose bus drops any message", .tags(.g2)) struct LostMessagesTests {
    @Test("whatever is lost, and in whatever order: once nothing is lost any more, it finds the owner within 40 s")
    func everything() {
        var seen = Set([LossyWorld()])
        var level = Array(seen)
        var (longest, wrong) = (0, 0)
        while !level.isEmpty {
            var next: [LossyWorld] = []
            for world in level {
                guard let seconds = world.recovers() else {
                    Issue.record("it never finds the owner: \(world)")
                    return
                }
                longest = max(longest, seconds)
                if !world.isRight { wrong += 1 }
                // Owners come and go.
                if world.generation > 4 { continue }
                for input in LossyWorld.Input.allCases {
                    var changed = world
                    changed.apply(input)
                    if seen.insert(changed).inserted { next.append(changed) }
                }
            }
            level = next
        }
        #expect(longest <= 40 && longest >= 30, "\(longest)")
        #expect(seen.count > 500 && wrong > 200, "\(seen.count), \(wrong)")
    }
    @Test("a relay that waits for something is not left in the dark for longer than 7 s") func prompt() {
        var seen = Set([LossyWorld()])
        var level = Array(seen)
        while !level.isEmpty {
            var next: [LossyWorld] = []
            for world in level where world.generation <= 3 {
                guard let seconds = world.recovers(whileWaiting: true), seconds <= 7 else {
                    Issue.record("\(world)")
                    return
                }
                for input in LossyWorld.Input.allCases {
                    var changed = world
                    changed.apply(input)
                    if seen.insert(changed).inserted { next.append(changed) }
                }
            }
            level = next
        }
        #expect(seen.count > 200)
    }
}
