import TestTraits
import Testing

@testable import RelayBus

/// A bus that loses nothing, two peers that take and leave a name, and a caller that may doubt at any time what it
/// knows of that.
private struct NameWorld {
    enum Input: CaseIterable { case firstTakes, secondTakes, leaves, doubt, call, reply, strangerReplies, receive }
    private enum Message {
        case announcement(String?, String?)
        case answer(NameOwnership)
        case reply(String)
    }
    private static let name = "org.example.A"
    private static let stranger = ":1.9"
    /// In the order in which the bus has sent them.
    private var messages: [Message] = []
    private var owner: String?
    /// Whom the bus has passed the call on to, as long as that has not replied.
    private var callee: String?
    private var hasStrangerReplied = false
    private var isSent = false
    private(set) var hasReplied = false
    /// Who ended the call.
    private var enders: [String] = []
    private var log: [Input] = []
    private var calls = PendingCalls(startingAt: 0)

    /// The name is followed, and the first question is on its way.
    init(owner: String?) {
        self.owner = owner
        _ = calls.owners.follow(Self.name)
        ask()
    }

    /// The bus answers at once, behind what it has sent already.
    private mutating func ask() {
        if calls.owners.ask(Self.name) { messages.append(.answer(owner.map { .owner($0) } ?? .nobody)) }
    }
    /// False where it cannot happen.
    mutating func apply(_ input: Input) -> Bool {
        log.append(input)
        switch input {
        case .firstTakes: return pass(to: ":1.1")
        case .secondTakes: return pass(to: ":1.2")
        case .leaves: return pass(to: nil)
        case .doubt: calls.owners.doubt()
        case .call:
            guard !isSent, let owner else { return false }
            (isSent, callee) = (true, owner)
            let entry = PendingCalls.Entry(.test(Self.name), completion: { _ in })
            return calls.add(entry, serial: 9)
        case .reply:
            guard let peer = callee else { return false }
            (callee, hasReplied) = (nil, true)
            messages.append(.reply(peer))
        case .strangerReplies:
            if !isSent || hasStrangerReplied { return false }
            hasStrangerReplied = true
            messages.append(.reply(Self.stranger))
        case .receive:
            if messages.isEmpty { return false }
            receive(messages.removeFirst())
        }
        return true
    }
    private mutating func pass(to next: String?) -> Bool {
        if owner == next { return false }
        messages.append(.announcement(owner, next))
        owner = next
        return true
    }
    private mutating func receive(_ message: Message) {
        switch message {
        case .announcement(let old, let new):
            calls.owners.announced(OwnerChange(of: Self.name, from: old, to: new))
            enders += calls.judge(Self.name, isLastWord: false).ended.map(\.answer.sender)
        case .answer(let ownership):
            calls.owners.answered(ownership, of: Self.name)
            enders += calls.judge(Self.name, isLastWord: true).ended.map(\.answer.sender)
        case .reply(let peer):
            switch calls.answered(by: peer, serial: 9) {
            case .ends: enders.append(peer)
            case .isDoubtful:
                let reply = BusReply(sender: peer, signature: "", body: [])
                let answer = PendingCalls.HeldAnswer(sender: peer, result: .success(reply), size: 1)
                if calls.hold(answer, for: 9) { ask() }
            case .isStray: break
            }
        }
    }
    /// What is wrong once everything has been received; nil: nothing.
    var fault: String? {
        if enders.contains(Self.stranger) { return "a stranger's reply ends the call: \(log)" }
        if hasReplied && enders.count != 1 { return "its callee's reply ends it \(enders.count) times: \(log)" }
        return nil
    }
}

@Suite("The owners of a name", .computing) struct NameOwnersTests {
    /// Every sequence of six inputs, and then whatever is still on its way.
    @Test("the reply of the peer that was asked ends the call, whatever becomes of the name meanwhile, and no other's")
    func interleavings() {
        var (checked, replied) = (0, 0)
        func visit(_ world: NameWorld, depth: Int) -> String? {
            var rest = world
            while rest.apply(.receive) {}
            checked += 1
            replied += rest.hasReplied ? 1 : 0
            if let fault = rest.fault { return fault }
            if depth == 0 { return nil }
            for input in NameWorld.Input.allCases {
                var next = world
                if next.apply(input), let fault = visit(next, depth: depth - 1) { return fault }
            }
            return nil
        }
        for owner in [nil, ":1.1"] { #expect(visit(NameWorld(owner: owner), depth: 6) == nil) }
        #expect(checked > 20_000 && replied > 2_000, "\(checked) \(replied)")
    }
}
