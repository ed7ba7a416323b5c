import RelayTestKit
import Synchronization

@testable import RelayCore
import RelayWire

/// What answers in polkit's place: a test says what, and when.
final class FakeAuthority: BusHandler {
    struct Question: Hashable, Sendable {
        let action: String
        let peer: String
        let flags: UInt32
        let cancellation: String
    }
    enum Reply: Sendable {
        case answer(isAuthorised: Bool, isChallenge: Bool)
        case error(String)
        case nonsense
        /// When the test says so: `settle`.
        case later

        static let yes = Self.answer(isAuthorised: true, isChallenge: false)
        static let no = Self.answer(isAuthorised: false, isChallenge: false)
        static let person = Self.answer(isAuthorised: false, isChallenge: true)
    }
    typealias Rule = @Sendable (Question) -> Reply
    private struct State {
        var rule: Rule
        var questions: [Question] = []
        var waiting: [(question: Question, call: IncomingCall)] = []
        var cancellations: [String] = []
    }
    private let state: Mutex<State>
    private let connections = Mutex<BusConnection?>(nil)
    private let loop: BusLoop

    private init(_ rule: @escaping Rule) throws {
        state = Mutex(State(rule: rule))
        loop = try BusLoop(name: "authority")
    }
    /// Takes polkit's name on a bus.
    static func join(_ bus: Bus, _ rule: @escaping Rule) async throws -> FakeAuthority {
        let authority = try FakeAuthority(rule)
        let connection = try await BusConnection.connect(to: bus, on: authority.loop, handler: authority)
        authority.connections.withLock { $0 = connection }
        try await authority.ask("RequestName", "su", 4)
        return authority
    }
    deinit { loop.stop() }

    private var connection: BusConnection { connections.withLock { $0 }! }  // Joined: see `join`.
    var uniqueName: String { connection.uniqueName }
    var questions: [Question] { state.withLock { $0.questions } }
    var cancellations: [String] { state.withLock { $0.cancellations } }
    var waiting: [Question] { state.withLock { $0.waiting.map(\.question) } }
    func rule(_ rule: @escaping Rule) { state.withLock { $0.rule = rule } }
    /// Answers what waits.
    func settle(_ reply: Reply) {
        let waiting = state.withLock { state in
            defer { state.waiting = [] }
            return state.waiting
        }
        for one in waiting { answer(one.call, reply) }
    }
    /// Announces that it may say something else from now on.
    func announceChange() throws {
        try connection.send(.signal(path: Polkit.path, interface: Polkit.interface, member: "Changed"))
    }
    func releaseName() async throws { try await ask("ReleaseName", "s", nil) }
    func leave() { connection.close() }
    private func ask(_ member: String, _ signature: String, _ flags: UInt32?) async throws {
        var body = WireWriter()
        try body.string(Polkit.name)
        if let flags { body.uint32(flags) }
        _ = try await connection.call(.toBus(member, try Signature(signature), body: body.bytes))
    }

    func methodCall(_ call: IncomingCall) {
        guard let signature = try? Signature(call.signature),
            let values = try? call.body.withUnsafeBytes({ try DBusValue.decode(signature: signature, body: $0) })
        else { return }
        if call.member == "CancelCheckAuthorization", case .string(let id)? = values.first {
            state.withLock { $0.cancellations.append(id) }
            return connection.reply(to: call)
        }
        guard values.count == 5, case .structure(let subject) = values[0],
            case .dictionary(_, let entries) = subject[1],
            case .variant(.string(let peer))? = entries.first?.value, subject[0] == .string("system-bus-name"),
            case .string(let action) = values[1], case .uint32(let flags) = values[3],
            case .string(let cancellation) = values[4]
        else { return connection.fail(call, "org.example.BadQuestion", "\(values)") }
        let question = Question(action: action, peer: peer, flags: flags, cancellation: cancellation)
        let reply = state.withLock { state in
            state.questions.append(question)
            let reply = state.rule(question)
            if case .later = reply { state.waiting.append((question, call)) }
            return reply
        }
        answer(call, reply)
    }
    private func answer(_ call: IncomingCall, _ reply: Reply) {
        var body = WireWriter()
        switch reply {
        case .later: break
        case .error(let name): connection.fail(call, name, "as the test says")
        case .nonsense: connection.reply(to: call)
        case .answer(let isAuthorised, let isChallenge):
            let details = DBusValue.dictionary(.dictionary(.string, .string), [])
            let value = DBusValue.structure([.boolean(isAuthorised), .boolean(isChallenge), details])
            guard (try? DBusValue.encode([value], into: &body)) != nil, let signature = try? Signature("(bba{ss})")
            else { return }
            connection.reply(to: call, signature, body: body.bytes)
        }
    }
    func signal(_ message: borrowing ReceivedMessage) {}
    func disconnected(_ reason: RelayError) {}
}
