import TestTraits
import Testing

@testable import RelayCore

/// With a signal's number, of which there is one.
private typealias Session = ServiceSession<Int>

/// A bus on which two peers come and go, the relay's session with it, and what must be true of it.
private struct SessionWorld: Hashable {
    enum Input: CaseIterable {
        case activate, connects, connectionFails, busGoes, end
        /// The bus announces it.
        case firstAppears, secondAppears, nobodyHasIt
        /// The bus answers the last question about the owner.
        case answersFirst, answersNobody, answersNothing
        case firstSends, secondSends
        /// Of the candidate that was asked about at last.
        case verified, refused, recheck
        case settles
        /// Whatever is answered about former candidates.
        case lateAnswers
        /// The time of the ordered question has come, with something that waits and without.
        case due, dueWaiting
        case owes, waits, strangerSends
    }
    enum Life: Hashable { case inactive, offline, online, over }
    var session = Session(countLimit: 2, costLimit: 100)
    var life = Life.inactive
    /// Whether the bus has said who has the name, and who that is.
    var isKnown = false
    var present: String?
    var isVerified = false
    var wasActive = false
    /// A question is on its way, or ordered.
    var isAsked = false
    var isOrdered = false
    var owes = false
    var suspects = false
    var candidates: [Int] = []
    /// What is to be delivered once the candidate is verified, and how much it has sent.
    var held: [Int] = []
    var heldCount = 0
    var standing = Session.Standing.connecting
    var faults: Set<String> = []

    mutating func apply(_ input: Input) {
        let before = session
        switch input {
        case .activate:
            let isFirst = life == .inactive
            expect((session.activate() == .connect) == isFirst, "activated twice")
            if isFirst { life = .offline }
        case .connects:
            let isAwaited = life == .offline
            switch session.connected() {
            case .close: expect(!isAwaited, "no connection")
            case .askForOwner:
                expect(isAwaited, "a connection that nobody waits for")
                follow(.ask)
                life = .online
            }
        case .connectionFails:
            switch session.connectionFailed() {
            case .ignored: expect(life != .offline, "does not retry")
            case .retry(let standing):
                expect(life == .offline, "retries what it does not want")
                report(standing, wasActive ? .interrupted : .connecting)
            }
        case .busGoes:
            switch session.busVanished() {
            case .ignored: expect(life != .online, "the bus was not missed")
            case .forget(let loss):
                expect(life == .online, "no bus was lost")
                lose(loss)
                (life, isKnown, isAsked, isOrdered, owes, suspects) = (.offline, false, false, false, false, false)
                expect(session.verdict { _ in true } == .drop, "a lost bus still has names")
            }
        case .end: end(session.end(), isDue: life != .over)
        case .firstAppears: change(session.ownerChanged(to: ":1.1"), to: ":1.1", isNew: true)
        case .secondAppears: change(session.ownerChanged(to: ":1.2"), to: ":1.2", isNew: true)
        case .nobodyHasIt: change(session.ownerChanged(to: nil), to: nil, isNew: true)
        case .answersFirst: answer(.owner(":1.1"), ":1.1")
        case .answersNobody: answer(.nobody, nil)
        case .answersNothing:
            if !isAsked { return }
            isAsked = false
            let answer = session.ownerAnswered(.unknown, isWaiting: false)
            expect(answer == Session.OwnerAnswer(next: .order(.soon)), "no answer is one")
            suspects = true
            follow(answer.next)
        case .firstSends: send(":1.1")
        case .secondSends: send(":1.2")
        case .verified:
            guard let candidate = candidates.last else { return }
            verify(session.ownerVerified(candidate), isDue: isPresent(candidate, before))
        case .refused:
            guard let candidate = candidates.last else { return }
            end(session.ownerRefused(candidate), isDue: isPresent(candidate, before))
        case .recheck: if life == .online { recheck(before.generation) }
        case .settles:
            let standing = session.settled()
            expect(isVerified || standing == nil, "active without an owner")
            if isVerified {
                wasActive = true
                report(standing, .active)
            }
        case .lateAnswers: answerLate(before)
        case .due, .dueWaiting:
            let wasOrdered = isOrdered
            isOrdered = false
            let inquiry = session.inquiryDue(isWaiting: input == .dueWaiting)
            expect((inquiry == .ignored) != wasOrdered, "an ordered question is forgotten")
            if input == .dueWaiting && wasOrdered { expect(inquiry == .ask, "waits") }
            follow(inquiry)
        case .owes:
            follow(session.ownerOwes(), replacing: true)
            if life == .online { owes = true }
        case .waits: follow(session.beganWaiting(), replacing: true)
        case .strangerSends:
            follow(session.strangerSent(), replacing: true)
            if life == .online && isKnown { suspects = true }
        }
        check()
    }
    /// An answer about a former owner changes nothing.
    private mutating func answerLate(_ before: Session) {
        if !isAsked {
            let answer = session.ownerAnswered(.owner(":1.2"), isWaiting: true)
            expect(answer == Session.OwnerAnswer(next: .ignored), "answers what was not asked")
        }
        for former in candidates where former != before.generation {
            expect(session.ownerVerified(former) == .ignored, "believed too late")
            expect(session.ownerRefused(former) == .ignored, "a former owner's refusal ends it")
            expect(session.recheck(former) == .ignored, "asks a former owner")
        }
        expect(session == before, "a late answer changes something")
    }
    private func isPresent(_ candidate: Int, _ before: Session) -> Bool {
        life == .online && present != nil && !isVerified && candidate == before.generation
    }
    /// - Parameter replacing: an ordered question may be brought forward.
    private mutating func follow(_ inquiry: Session.Inquiry, replacing: Bool = false) {
        if inquiry == .ignored { return }
        expect(!isAsked && (replacing || !isOrdered), "two questions")
        (isAsked, isOrdered) = inquiry == .ask ? (true, false) : (false, true)
    }
    private mutating func answer(_ ownership: NameOwnership, _ name: String?) {
        if !isAsked { return }
        isAsked = false
        let (wasKnown, was, wasVerified) = (isKnown, present, isVerified)
        let answer = session.ownerAnswered(ownership, isWaiting: false)
        let isSame = wasKnown && was == name
        expect((answer.change == .ignored) == isSame, "the same owner is another, or another the same")
        expect(answer.isToBeRechecked == (isSame && name != nil && owes), "rechecks another, or does not")
        expect(answer.isToBeCompared == (isSame && wasVerified && suspects), "compares another, or does not")
        (owes, suspects) = (false, false)
        if answer.change != .ignored { change(answer.change, to: name, isNew: wasKnown) }
        follow(answer.next)
    }
    private mutating func change(_ change: Session.OwnerChange, to name: String?, isNew: Bool) {
        if life != .online { return expect(change == .ignored, "an owner without a bus") }
        let hadOwner = present != nil
        var candidate: Session.Candidate?
        switch change {
        case .ignored: faults.insert("a change is ignored")
        case .absent: expect(!hadOwner && name == nil, "lost nobody")
        case .appeared(let new):
            expect(!hadOwner, "lost nobody")
            candidate = new
        case .vanished(let loss):
            expect(hadOwner && name == nil, "lost nobody")
            lose(loss)
        case .replaced(let loss, by: let new):
            expect(hadOwner, "lost nobody")
            lose(loss)
            candidate = new
        }
        (isKnown, present, isVerified) = (true, name, false)
        expect(candidate?.name == name && (candidate == nil || candidate?.isNew == isNew), "another candidate")
        if let candidate {
            expect(candidate.generation == session.generation, "a candidate of another generation")
            candidates = candidates.suffix(1) + [candidate.generation]
        }
    }
    private mutating func lose(_ loss: Session.Loss) {
        expect(loss.dropped == heldCount, "drops another number")
        report(loss.standing, wasActive ? .interrupted : .connecting)
        (held, heldCount, present, isVerified, owes) = ([], 0, nil, false, false)
    }
    private mutating func end(_ end: Session.End, isDue: Bool) {
        switch end {
        case .ignored: expect(!isDue, "does not end")
        case .end(let count):
            expect(isDue && count == heldCount, "ends for nothing")
            (held, heldCount, present, isVerified, isKnown, life) = ([], 0, nil, false, false, .over)
            (isAsked, isOrdered, owes, suspects) = (false, false, false, false)
        }
    }
    private mutating func verify(_ verification: Session.Verification, isDue: Bool) {
        switch verification {
        case .ignored: expect(!isDue, "does not believe")
        case .deliver(let signals):
            expect(isDue && signals == held, "believes something else")
            (held, heldCount, isVerified) = ([], 0, true)
        }
    }
    private mutating func recheck(_ generation: Int) {
        switch session.recheck(generation) {
        case .ignored: expect(present == nil, "leaves it at silence")
        case .verify(let candidate): expect(candidate.name == present && !isVerified, "verifies somebody else")
        case .askOwner: expect(isVerified, "asks a stranger")
        }
    }
    private mutating func send(_ name: String) {
        let isOwner = name == present
        switch session.verdict({ $0 == name }) {
        case .take: expect(isOwner && isVerified, "believes a stranger")
        case .hold:
            expect(isOwner && !isVerified, "holds what it need not")
            // Past that, one is as another.
            if heldCount > 3 { return }
            let signal = 10 * session.generation + heldCount
            session.hold(signal, cost: 1)
            heldCount += 1
            if held.count < 2 { held.append(signal) }
        case .drop: expect(!isOwner, "drops what counts")
        }
    }
    private mutating func report(_ new: Session.Standing?, _ expected: Session.Standing) {
        expect(new == (standing == expected ? nil : expected), "reports something else")
        standing = new ?? standing
    }
    private mutating func check() {
        expect(isAsked == (life == .online && !isOrdered), "nobody asks who has the name")
        expect(session.suspectsLoss == suspects, "suspects something else")
        expect(session.owner == (isVerified ? present : nil), "believes another")
        expect(session.candidate == (isVerified ? nil : present), "looks at another")
        expect(session.isOwnershipKnown == isKnown && session.isOver == (life == .over), "knows something else")
        let route: Session.CallRoute =
            switch life {
            case .inactive: .inactive
            case .over: .over
            case .offline: wasActive ? .cutOff : .wait
            case .online: !isKnown ? .wait : present.map { isVerified ? .owner($0) : .wait } ?? .nobody
            }
        expect(session.callRoute == route, "a call goes elsewhere")
    }
    private mutating func expect(_ isTrue: Bool, _ fault: String) {
        if !isTrue { faults.insert(fault) }
    }
}

/// Who is believed, by trying everything.
@Suite("The session with the service's owner", .tags(.g7)) struct ServiceSessionTests {
    @Test("whatever comes in whatever order: only a verified owner counts, late answers and lost buses leave nothing")
    func everything() {
        var seen = Set([SessionWorld()])
        var level = Array(seen)
        var faults: Set<String> = []
        while !level.isEmpty {
            var next: [SessionWorld] = []
            // Owners, or buses, come and go.
            for world in level where world.session.generation < 4 {
                for input in SessionWorld.Input.allCases {
                    var changed = world
                    changed.apply(input)
                    for fault in changed.faults { faults.insert("\(input): \(fault)") }
                    if seen.insert(changed).inserted { next.append(changed) }
                }
            }
            level = next
        }
        #expect(faults == [])
        #expect(seen.count > 900, "\(seen.count)")
        #expect(Set(seen.map(\.life)).count == 4 && Set(seen.map(\.standing)).count == 3)
    }
    @Test("what a candidate sends is held up to a number and a size, and what is dropped is counted") func bounds() {
        var session = ServiceSession<Int>(countLimit: 3, costLimit: 100)
        session.hold(0, cost: 1)
        #expect(session.activate() == .connect && session.connected() == .askForOwner)
        guard case .appeared(let candidate) = session.ownerChanged(to: ":1.1") else {
            Issue.record("no candidate")
            return
        }
        #expect(session.candidate == ":1.1" && session.owner == nil)
        for number in 1...3 { session.hold(number, cost: number == 2 ? 100 : 1) }
        session.hold(4, cost: .max)
        session.hold(5, cost: 1)
        #expect(session.ownerVerified(candidate.generation) == .deliver([1, 3, 5]))
        #expect(session.owner == ":1.1" && session.candidate == nil)
        #expect(session.ownerVerified(candidate.generation) == .ignored)
        session.hold(6, cost: 1)
        guard case .replaced(let loss, by: _) = session.ownerChanged(to: ":1.2") else {
            Issue.record("not replaced")
            return
        }
        #expect(loss.dropped == 0)
        for number in 1...9 { session.hold(number, cost: 1) }
        #expect(session.busVanished() == .forget(ServiceSession<Int>.Loss(dropped: 9, standing: nil)))
        #expect(!session.isOwnershipKnown && session.candidate == nil)
    }
    @Test("a refused owner ends the session, once") func refusal() {
        var session = ServiceSession<Int>(countLimit: 3, costLimit: 100)
        #expect(session.activate() == .connect && session.connected() == .askForOwner)
        let answer = session.ownerAnswered(.owner(":1.1"), isWaiting: false)
        guard case .appeared(let candidate) = answer.change else {
            Issue.record("no candidate")
            return
        }
        #expect(!candidate.isNew && session.candidate == ":1.1")
        session.hold(1, cost: 1)
        #expect(session.ownerRefused(candidate.generation) == .end(dropped: 1))
        #expect(session.ownerRefused(candidate.generation) == .ignored && session.end() == .ignored)
        #expect(session.isOver && session.callRoute == .over && session.connected() == .close)
        #expect(session.ownerChanged(to: ":1.2") == .ignored && session.settled() == nil)
    }
}
