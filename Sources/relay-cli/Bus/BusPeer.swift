import Dispatch
import RelayCore
import RelayTool
import Synchronization
import RelayWire

/// A connection of this program's own: for what concerns the bus itself, and for services that are looked at and not
/// started by that.
///
/// It waits on the calling thread, and makes no thread that takes the program's signals: a verb can ask before it
/// blocks them.
protocol BusPeer: Sendable {
    /// Its unique name.
    var name: String { get }
    /// Whether the bus passes file descriptors to it, and from it.
    var passesDescriptors: Bool { get }
    /// The user whose process made the bus's socket; nil: the bus may be on another machine.
    var busUser: UInt32? { get }
    /// The answers to calls that are all sent at once, in the order of the calls. None starts a service.
    func ask(_ calls: [MethodCall], within timeout: Duration) -> [Result<BusReply, RelayError>]
    /// Asks the bus for signals. Whose they are is in `senders`, once for each that has come.
    func listen(_ rule: MatchRule, within timeout: Duration) -> RelayError?
    /// Called on any thread when a signal that was asked for comes; it must not wait. In place of an earlier one.
    func onSignal(_ body: @escaping @Sendable () -> Void)
    var senders: [String] { get }
}

extension BusPeer {
    func ask(_ call: MethodCall, within timeout: Duration) throws(RelayError) -> BusReply {
        guard let answer = ask([call], within: timeout).first else { throw RelayError(.unavailable, "no answer") }
        return try answer.get()
    }
}

extension BusPeer {
    /// The names of the programs behind unique names; those that cannot be found out are left out.
    func programs(of names: [String]) -> [String: String] {
        let calls = names.compactMap { MethodCall.toBus("GetConnectionUnixProcessID", of: $0) }
        guard calls.count == names.count else { return [:] }
        var programs: [String: String] = [:]
        for (name, answer) in zip(names, ask(calls, within: .seconds(1))) {
            guard case .success(let reply) = answer, let process = try? reply.read("u", { try $0.uint32() }),
                let program = SmallFile.text("/proc/\(process)/comm")?.split(whereSeparator: \.isNewline).first
            else { continue }
            programs[name] = String(program)
        }
        return programs
    }
}

extension BusPeer {
    /// How the bridge on this bus is. nil: there is none, or this user may not ask it.
    func bridge(within timeout: Duration) -> BridgeStatus? {
        guard let calls = try? BridgeStatus.calls() else { return nil }
        let answers = ask(calls, within: timeout).compactMap { try? $0.get() }
        return try? BridgeStatus(answers)
    }
}

extension MethodCall {
    /// A question to the bus about a name; nil for what is no text of D-Bus.
    static func toBus(_ member: String, of name: String) -> MethodCall? {
        var body = WireWriter()
        guard (try? body.string(name)) != nil, let signature = try? Signature("s") else { return nil }
        return .toBus(member, signature, body: body.bytes)
    }
}

/// The connection to a bus.
final class BusLine: BusPeer {
    private let loop: BusLoop
    private let connection: BusConnection
    private let ears = Ears()

    /// What comes unasked.
    private final class Ears: BusHandler {
        let senders = Mutex<[String]>([])
        let onSignal = Mutex<(@Sendable () -> Void)?>(nil)
        /// More would show nothing new.
        private static let most = 10_000

        func signal(_ message: borrowing ReceivedMessage) {
            onSignal.withLock { $0 }?()
            // The bus itself announces owners of the names that are called here.
            guard let sender = message.sender, sender != "org.freedesktop.DBus" else { return }
            senders.withLock { if $0.count < Self.most { $0.append(sender) } }
        }
        func methodCall(_ call: IncomingCall) {}
        func disconnected(_ reason: RelayError) {}
    }

    /// Throws what keeps it from the bus.
    init(_ choice: BusChoice, timeout: Duration) throws(RelayError) {
        let made: BusLoop
        do { made = try BusLoop(name: "bus") } catch {
            throw error as? RelayError ?? RelayError(.unavailable, "no bus thread: \(error)")
        }
        let result = Awaited<Result<BusConnection, RelayError>>()
        BusConnection.open(Bus(choice), on: made, handler: ears, timing: BusTiming { $0.hello = timeout }) {
            result.set($0)
        }
        loop = made
        connection = try result.wait().get()
    }
    deinit {
        connection.close()
        loop.stop()
    }

    var name: String { connection.uniqueName }
    var passesDescriptors: Bool { connection.canPassDescriptors }
    var busUser: UInt32? { connection.busUser }
    var senders: [String] { ears.senders.withLock { $0 } }

    func onSignal(_ body: @escaping @Sendable () -> Void) { ears.onSignal.withLock { $0 = body } }

    func ask(_ calls: [MethodCall], within timeout: Duration) -> [Result<BusReply, RelayError>] {
        let answers = calls.map { call in
            let answer = Awaited<Result<BusReply, RelayError>>()
            var call = call
            call.flags.insert(.noAutoStart)
            connection.send(call, timeout: timeout) { answer.set($0) }
            return answer
        }
        return answers.map { $0.wait() }
    }
    func listen(_ rule: MatchRule, within timeout: Duration) -> RelayError? {
        let answer = Awaited<Result<BusReply, RelayError>>()
        connection.addMatch(rule) { answer.set($0) }
        if case .failure(let error) = answer.wait() { return error }
        return nil
    }
}

/// A value that another thread gives, once.
private final class Awaited<Value: Sendable>: Sendable {
    private let value = Mutex<Value?>(nil)
    private let isThere = DispatchSemaphore(value: 0)

    func set(_ new: Value) {
        value.withLock { $0 = new }
        isThere.signal()
    }
    func wait() -> Value {
        while true {
            isThere.wait()
            if let found = value.withLock({ $0 }) { return found }
        }
    }
}

extension Bus {
    init(_ choice: BusChoice) {
        self =
            switch choice {
            case .session: .session
            case .system: .system
            case .address(let address): .address(address)
            }
    }
}
