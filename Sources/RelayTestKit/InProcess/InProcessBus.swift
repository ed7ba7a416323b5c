import RelayCore
import Synchronization
import RelayWire

/// What a bus does, without a daemon, a socket or a thread: names, match rules, messages from one to the other.
///
/// It takes messages where a connection would write them to its socket, routes them as a bus does, and delivers them on
/// the loop of each receiver. So services and relays do all that they do on a bus that passes no descriptors, in the
/// order of a bus.
///
/// - Order: each connection receives messages in the order in which they were sent, from any sender.
/// - Isolation: from any thread. It calls no code back under its lock.
/// - Loss: of what `lose` orders, and of signals whose sender has 64 MiB on their way.
final class InProcessBus: BusLink {
    /// A connection of this process, kept by its maker.
    final class Member: Sendable {
        private let reference: WeakConnection
        let loop: BusLoop
        let bus: LinkedBus
        init(_ connection: BusConnection, _ bus: LinkedBus) {
            (reference, loop, self.bus) = (WeakConnection(connection), connection.loop, bus)
        }
        var connection: BusConnection? { reference.connection }
        var id: ObjectIdentifier { reference.id }
    }
    private final class WeakConnection: @unchecked Sendable {  // A weak reference may be read from any thread.
        private(set) weak var connection: BusConnection?
        let id: ObjectIdentifier
        init(_ connection: BusConnection) { (self.connection, id) = (connection, ObjectIdentifier(connection)) }
    }
    private struct Call {
        let caller: String
        let serial: UInt32
        let callee: String
    }
    /// Events of an interface that are to be lost on their way.
    private struct Loss {
        var left: Int
        /// Of the last one that was lost.
        var stamp: [UInt8] = []
    }
    private struct State {
        /// In the order in which they came, so that what goes to all goes to each in one order.
        var members: [(name: String, member: Member)] = []
        /// Those that have not called `Hello`.
        var strangers: [ObjectIdentifier: Member] = [:]
        var owners: [String: String] = [:]
        var rules: [String: [SignalFilter]] = [:]
        /// Calls that wait for their answer.
        var calls: [Call] = []
        var lastName = 0
        var lastSerial: UInt32 = 0
        /// What a test's polkit permits: an action, and a user.
        var permits: (@Sendable (String, UInt32) -> Bool)?
        /// Bytes on their way, by sender.
        var held: [String: Int] = [:]
        var losses: [String: Loss] = [:]

        func member(_ name: String) -> Member? {
            let unique = owners[name] ?? name
            return members.first { $0.name == unique }?.member
        }
        func name(of id: ObjectIdentifier) -> String? { members.first { $0.member.id == id }?.name }
        /// Whether a message is an event that is to be lost. One that goes to several receivers, in a message for each,
        /// is lost to all of them, and counts once: its stamp is the end of its body.
        mutating func loses(_ message: LinkedMessage) -> Bool {
            guard message.kind == .signal, let interface = message.interface, let loss = losses[interface] else {
                return false
            }
            let stamp = Array(message.body.suffix(24))
            if stamp == loss.stamp { return true }
            losses[interface] = loss.left > 0 ? Loss(left: loss.left - 1, stamp: stamp) : nil
            return loss.left > 0
        }
    }
    let clock: ManualClock
    private let state = Mutex(State())
    static let driver = "org.freedesktop.DBus"
    /// Past it a sender's signals are lost, as a bus drops what a receiver does not take: no test waits so long before
    /// its relay's thread had a turn.
    static let mostHeld = 64 << 20
    /// The name of a connection that only polkit has.
    private static let authority = ":1.0"

    init(_ clock: ManualClock) { self.clock = clock }

    // MARK: Connections

    func join(_ connection: BusConnection, as bus: LinkedBus) {
        let member = Member(connection, bus)
        state.withLock { $0.strangers[member.id] = member }
    }
    func leave(_ connection: BusConnection) {
        let id = ObjectIdentifier(connection)
        // Kept until the lock is free: the last reference to a connection must not go under it.
        var left: [Member] = []
        state.withLock { state in
            if let stranger = state.strangers.removeValue(forKey: id) { left.append(stranger) }
            guard let index = state.members.firstIndex(where: { $0.member.id == id }) else { return }
            let (name, member) = state.members.remove(at: index)
            left.append(member)
            state.rules[name] = nil
            for owned in state.owners.filter({ $0.value == name }).keys.sorted() {
                state.owners[owned] = nil
                tellOwner(of: owned, old: name, new: "", &state)
            }
            tellOwner(of: name, old: name, new: "", &state)
            let (lost, kept) = (
                state.calls.filter { $0.callee == name }, state.calls.filter { $0.callee != name && $0.caller != name }
            )
            state.calls = kept
            for call in lost {
                fail(call.serial, of: call.caller, "NoReply", "\(name) has left without an answer", &state)
            }
        }
        withExtendedLifetime(left) {}
    }
    /// Ends all connections, as a bus does that goes away.
    func end() {
        let members = state.withLock { state in state.members.map(\.member) + Array(state.strangers.values) }
        for member in members { member.connection?.linkEnded(RelayError(.unavailable, "the test's bus was stopped")) }
    }
    /// The connections that there are.
    var connections: [BusConnection] { state.withLock { $0.members.map(\.member) }.compactMap(\.connection) }
    /// Who owns a service's name, as the bus sees it.
    func owner(of name: String) -> String? { state.withLock { $0.owners[name] } }

    // MARK: Messages

    /// The next events of an interface are lost on their way to every receiver.
    func lose(_ count: Int, of interface: String) { state.withLock { $0.losses[interface] = Loss(left: count) } }
    func send(_ message: LinkedMessage, from connection: BusConnection) {
        let id = ObjectIdentifier(connection)
        if message.destination == Self.authority { return askPolkit(message, from: id) }
        state.withLock { state in
            guard let sender = state.name(of: id) else { return hello(message, id, &state) }
            if message.destination == Self.driver { return ask(message, of: sender, &state) }
            if state.loses(message) { return }
            pass(message, from: sender, &state)
        }
    }
    private func hello(_ message: LinkedMessage, _ id: ObjectIdentifier, _ state: inout State) {
        guard message.member == "Hello", let member = state.strangers.removeValue(forKey: id) else { return }
        state.lastName += 1
        let name = ":1.\(state.lastName)"
        state.members.append((name, member))
        answer(message, of: name, [.string(name)], &state)
        tellOwner(of: name, old: "", new: name, &state)
    }
    private func pass(_ message: LinkedMessage, from sender: String, _ state: inout State) {
        guard let destination = message.destination else {
            if message.kind == .signal { broadcast(message, from: sender, &state) }
            return
        }
        guard let member = state.member(destination) else {
            if message.wantsReply {
                fail(message.serial, of: sender, "ServiceUnknown", "nobody owns \(destination)", &state)
            }
            return
        }
        let receiver = state.owners[destination] ?? destination
        switch message.kind {
        case .methodCall:
            if message.wantsReply {
                state.calls.append(Call(caller: sender, serial: message.serial, callee: receiver))
            }
        case .methodReturn, .error:
            let index = state.calls.firstIndex {
                $0.caller == receiver && $0.serial == message.replySerial && $0.callee == sender
            }
            // A bus passes on no answer that nobody waits for.
            guard let index else { return }
            state.calls.remove(at: index)
        case .signal: break
        }
        deliver(message, from: sender, to: member, &state)
    }
    private func broadcast(_ message: LinkedMessage, from sender: String, _ state: inout State) {
        let names = [sender] + state.owners.filter { $0.value == sender }.keys
        for (name, member) in state.members
        where state.rules[name]?.contains(where: { $0.admits(message, names) }) == true {
            deliver(message, from: sender, to: member, &state)
        }
    }
    private func deliver(_ message: LinkedMessage, from sender: String, to member: Member, _ state: inout State) {
        let count = message.bytes.count
        if message.kind == .signal, sender != Self.driver, state.held[sender, default: 0] + count > Self.mostHeld {
            return
        }
        state.held[sender, default: 0] += count
        member.loop.execute { [weak self] in
            member.connection?.receive(message, from: sender)
            self?.state.withLock { state in
                let left = (state.held[sender] ?? 0) - count
                state.held[sender] = left > 0 ? left : nil
            }
        }
    }

    // MARK: The bus itself

    private func ask(_ message: LinkedMessage, of sender: String, _ state: inout State) {
        let arguments = (try? Signature(message.signature)).flatMap { signature in
            message.body.withUnsafeBytes { try? DBusValue.decode(signature: signature, body: $0) }
        }
        var name = ""
        if case .string(let text)? = arguments?.first { name = text }
        func refuse(_ error: String, _ text: String) { fail(message.serial, of: sender, error, text, &state) }
        func reply(_ values: DBusValue...) { answer(message, of: sender, values, &state) }
        switch message.member {
        case "AddMatch":
            guard let filter = SignalFilter(name) else { return refuse("MatchRuleInvalid", name) }
            state.rules[sender, default: []].append(filter)
            reply()
        case "RemoveMatch":
            let index = state.rules[sender]?.firstIndex { $0.text == name }
            guard let index else { return refuse("MatchRuleNotFound", name) }
            state.rules[sender]?.remove(at: index)
            reply()
        case "RequestName":
            if let owner = state.owners[name] {
                // DBUS_REQUEST_NAME_REPLY_ALREADY_OWNER, or …_EXISTS: nobody queues here.
                return reply(.uint32(owner == sender ? 4 : 3))
            }
            state.owners[name] = sender
            tellOwner(of: name, old: "", new: sender, &state)
            reply(.uint32(1))
        case "ReleaseName":
            // DBUS_RELEASE_NAME_REPLY_NON_EXISTENT, or …_NOT_OWNER.
            guard let owner = state.owners[name] else { return reply(.uint32(2)) }
            if owner != sender { return reply(.uint32(3)) }
            state.owners[name] = nil
            tellOwner(of: name, old: sender, new: "", &state)
            reply(.uint32(1))
        case "GetNameOwner":
            if name == Self.driver { return reply(.string(name)) }
            let isThere = state.owners[name] == Self.authority || state.member(name) != nil
            guard isThere else { return refuse("NameHasNoOwner", "nobody owns \(name)") }
            reply(.string(state.owners[name] ?? name))
        case "NameHasOwner": reply(.boolean(name == Self.driver || state.member(name) != nil))
        case "StartServiceByName":
            if state.member(name) != nil { return reply(.uint32(2)) }  // DBUS_START_REPLY_ALREADY_RUNNING
            refuse("ServiceUnknown", "nobody can start \(name) in a test: run its service")
        case "GetConnectionCredentials":
            // The bus itself is this process, too.
            let member = name == Self.driver ? state.member(sender) : state.member(name)
            guard let member else { return refuse("NameHasNoOwner", "nobody owns \(name)") }
            let groups = member.bus.groupIDs.map { DBusValue.uint32($0) }
            reply(
                .dictionary(
                    .dictionary(.string, .variant),
                    [
                        .init(key: .string("UnixUserID"), value: .variant(.uint32(member.bus.userID))),
                        .init(key: .string("UnixGroupIDs"), value: .variant(.array(.uint32, groups))),
                    ]))
        case "GetConnectionStats":
            // What dbus-daemon holds: from this sender, and for this receiver, which takes at once.
            let figures = [("IncomingBytes", state.held[name] ?? 0), ("OutgoingBytes", 0)]
            reply(
                .dictionary(
                    .dictionary(.string, .variant),
                    figures.map {
                        .init(key: .string($0.0), value: .variant(.uint32(UInt32(clamping: $0.1))))
                    }))
        default: refuse("UnknownMethod", "the test's bus has no method \(message.member ?? "")")
        }
    }
    private func tellOwner(of name: String, old: String, new: String, _ state: inout State) {
        let header = MessageHeader.signal(
            path: "/org/freedesktop/DBus", interface: Self.driver, member: "NameOwnerChanged")
        guard let signal = own(header, [.string(name), .string(old), .string(new)], &state) else { return }
        broadcast(signal, from: Self.driver, &state)
    }
    private func answer(_ message: LinkedMessage, of caller: String, _ values: [DBusValue], _ state: inout State) {
        guard message.wantsReply, let member = state.member(caller) else { return }
        guard let reply = own(.methodReturn(to: message.serial, destination: caller), values, &state) else { return }
        deliver(reply, from: Self.driver, to: member, &state)
    }
    private func fail(_ serial: UInt32, of caller: String, _ name: String, _ text: String, _ state: inout State) {
        guard let member = state.member(caller) else { return }
        let header = MessageHeader.error("\(Self.driver).Error.\(name)", to: serial, destination: caller)
        guard let error = own(header, [.string(text)], &state) else { return }
        deliver(error, from: Self.driver, to: member, &state)
    }
    /// A message of the bus's own. Nil for a text that no message carries, which is the test's mistake.
    private func own(_ header: MessageHeader, _ values: [DBusValue], _ state: inout State) -> LinkedMessage? {
        state.lastSerial += 1
        var header = header
        do throws(RelayError) {
            header.signature = try DBusValue.signature(of: values)
            return try LinkedMessage(header, serial: state.lastSerial, body: try DBusValue.body(values))
        } catch {
            return nil
        }
    }

    // MARK: polkit

    /// From now on polkit permits what this says.
    func permit(_ permits: @escaping @Sendable (String, UInt32) -> Bool) {
        state.withLock { state in
            let isNew = state.permits == nil
            state.permits = permits
            state.owners[Polkit.name] = Self.authority
            if isNew { return tellOwner(of: Polkit.name, old: "", new: Self.authority, &state) }
            let header = MessageHeader.signal(path: Polkit.path, interface: Polkit.interface, member: "Changed")
            if let signal = own(header, [], &state) { broadcast(signal, from: Self.authority, &state) }
        }
    }
    private func askPolkit(_ message: LinkedMessage, from id: ObjectIdentifier) {
        let values = (try? Signature(message.signature)).flatMap { signature in
            message.body.withUnsafeBytes { try? DBusValue.decode(signature: signature, body: $0) }
        }
        guard let values, values.count == 5, case .structure(let subject) = values[0],
            case .dictionary(_, let entries)? = subject.last, case .variant(.string(let peer))? = entries.first?.value,
            case .string(let action) = values[1]
        else { return }
        let (permits, user) = state.withLock { ($0.permits, $0.member(peer)?.bus.userID) }
        // A test's code, not under the lock.
        let isPermitted = user.flatMap { permits?(action, $0) } ?? false
        state.withLock { state in
            guard let caller = state.name(of: id) else { return }
            let details = DBusValue.dictionary(.dictionary(.string, .string), [])
            answer(message, of: caller, [.structure([.boolean(isPermitted), .boolean(false), details])], &state)
        }
    }
}
