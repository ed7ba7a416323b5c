import Glibc
import RelayCore
import RelayTool
import Synchronization

@testable import relay_cli
import RelayWire

/// A bus that answers as it is told to, and keeps what it was asked.
final class FakePeer: BusPeer {
    let name = ":1.99"
    let passesDescriptors: Bool
    let senders: [String]
    let busUser: UInt32?
    /// Whether an answer that is late takes the time that it was to be waited for.
    private let waitsForLate: Bool
    private let answer: @Sendable (MethodCall) throws(RelayError) -> BusReply
    private let log = Mutex<[MethodCall]>([])
    /// How long it was to be waited for each answer.
    let waits = Mutex<[Duration]>([])

    var calls: [MethodCall] { log.withLock { $0 } }

    init(
        passesDescriptors: Bool = true, senders: [String] = [], waitsForLate: Bool = false,
        busUser: UInt32? = geteuid(),
        answer: @escaping @Sendable (MethodCall) throws(RelayError) -> BusReply
    ) {
        (self.passesDescriptors, self.senders, self.answer) = (passesDescriptors, senders, answer)
        (self.waitsForLate, self.busUser) = (waitsForLate, busUser)
    }

    func ask(_ calls: [MethodCall], within timeout: Duration) -> [Result<BusReply, RelayError>] {
        log.withLock { $0 += calls }
        waits.withLock { $0.append(timeout) }
        let answers = calls.map { call in Result { () throws(RelayError) in try answer(call) } }
        if waitsForLate,
            answers.contains(where: { if case .failure(let error) = $0 { error.code == .timedOut } else { false } })
        {
            usleep(useconds_t(max(0, timeout.inSeconds) * 1_000_000))
        }
        return answers
    }
    func onSignal(_ body: @escaping @Sendable () -> Void) {}
    func listen(_ rule: MatchRule, within timeout: Duration) -> RelayError? { nil }
}

extension FakePeer {
    static func reply(
        _ signature: String, from sender: String = "org.freedesktop.DBus", _ write: (inout WireWriter) throws -> Void
    )
        -> BusReply
    {
        BusReply(sender: sender, signature: signature, body: (try? Samples.body(write)) ?? [])
    }
    static func names(_ names: [String]) -> BusReply {
        reply("as") { writer in
            let array = writer.beginArray(elementAlignment: 4)
            for name in names { try writer.string(name) }
            try writer.endArray(array)
        }
    }
    static func text(_ text: String, from sender: String = ":1.1") -> BusReply {
        reply("s", from: sender) { try $0.string(text) }
    }
    /// As the bus refuses something.
    static func refusal(_ name: String, _ message: String, calling call: MethodCall) -> RelayError {
        ErrorNames.relayError(
            RemoteError(name: "org.freedesktop.DBus.Error." + name, message: message), calling: call.member)
    }
}
