import Glibc
import RelayCore
import Synchronization

@testable import relay_cli
import RelayWire

/// What a service and its bus answer; each test changes what it is about.
struct DoctorWorld: Sendable {
    static let name = "org.eventrelay.Service1"
    static let owner = ":1.5"

    var owner: String? = Self.owner
    var startable: [String] = []
    var ownerUser: UInt32 = 1_000
    /// Of calls by their member: what is answered instead.
    var refusals: [String: (name: String, message: String)] = [:]
    var heads: [UInt64] = [7]
    var features = StreamFeature.all
    var signals: [String] = [Self.owner]
    var passesDescriptors = true
    var journal: FakeJournal
    var facts = SystemFacts(
        userID: 1_000, clockIsSynchronised: { true }, descriptorLimit: { 1_024 }, sealingFailure: { nil },
        ringFault: { _ in nil }, pause: { _ in })

    /// Units by the service manager of the bus; nil: it has none.
    var unit: UnitState?
    var serviceFile: String?

    private static let anyoneOwns = BusPolicy.Rule(context: .everyone, allows: true, subject: .owning(.any))
    private static let anyoneCalls = BusPolicy.Rule(
        context: .everyone, allows: true, subject: .calling(.any, interface: nil, member: nil))

    init() throws {
        journal = try FakeJournal.sample(3)
        facts.account = { UserAccount(userID: 1_000, userName: "alice") }
        facts.group = { UserGroup(number: 990, name: $0) }
        facts.policy = { _, _ in BusPolicy(rules: [Self.anyoneOwns, Self.anyoneCalls]) }
        facts.lastLine = { _, _ in nil }
        facts.programFile = { _ in .executable }
    }

    func peer() -> FakePeer {
        let heads = DoctorHeads(self.heads)
        return FakePeer(passesDescriptors: passesDescriptors, senders: signals) { call throws(RelayError) in
            try answer(call, heads)
        }
    }
    private func answer(_ call: MethodCall, _ heads: DoctorHeads) throws(RelayError) -> BusReply {
        if let refusal = refusals[call.member] {
            throw FakePeer.refusal(refusal.name, refusal.message, calling: call)
        }
        switch call.member {
        case "ListNames": return FakePeer.names(owner == nil ? [] : [Self.name])
        case "ListActivatableNames": return FakePeer.names(startable)
        case "GetNameOwner":
            guard let owner else { throw FakePeer.refusal("NameHasNoOwner", "no owner", calling: call) }
            return FakePeer.text(owner)
        case "GetConnectionUnixUser": return FakePeer.reply("u") { $0.uint32(ownerUser) }
        case "GetUnit" where unit != nil: return FakePeer.reply("o") { try $0.objectPath("/unit") }
        case "GetAll":
            let all: [String: DBusValue] = [
                "ActiveState": .string(unit?.active ?? ""), "SubState": .string(unit?.sub ?? ""),
                "Result": .string(unit?.result ?? ""), "ExecMainCode": .int32(unit?.end.cause ?? 0),
                "ExecMainStatus": .int32(unit?.end.number ?? 0),
            ]
            let entries = all.map { DBusValue.Entry(key: .string($0.key), value: .variant($0.value)) }
            return FakePeer.reply("a{sv}") {
                try DBusValue.encode([.dictionary(.dictionary(.string, .variant), entries)], into: &$0)
            }
        case "Introspect":
            guard let xml = Samples.objects[call.path] else {
                throw FakePeer.refusal("UnknownObject", "no", calling: call)
            }
            return FakePeer.text(xml)
        case "Attach":
            let attachment = Attachment(
                epoch: 1, from: 0, oldest: 1, head: heads.next(), last: [:],
                details: AttachOptions(features: features))
            return FakePeer.reply(Stream1.attachmentSignature, from: Self.owner) {
                try Stream1.write(attachment, into: &$0)
            }
        case "OpenRing":
            return BusReply(
                sender: Self.owner, signature: "hh", body: [0, 0, 0, 0, 1, 0, 0, 0],
                descriptors: [ReceivedDescriptor(open("/dev/null", O_RDONLY | O_CLOEXEC))])
        case "CloseRing": return FakePeer.reply("") { _ in }
        case "Status":
            let outgoing = OutgoingCall(
                path: call.path, interface: call.interface, member: "Status", signature: "", body: [])
            guard let reply = try? journal.answer(outgoing) else { throw RelayError(.unavailable, "it left") }
            return BusReply(sender: Self.owner, signature: reply.signature, body: reply.body)
        default: throw FakePeer.refusal("UnknownMethod", "no such method", calling: call)
        }
    }
}
private final class DoctorHeads: Sendable {
    private let heads: Mutex<[UInt64]>
    init(_ heads: [UInt64]) { self.heads = Mutex(heads) }
    func next() -> UInt64 { heads.withLock { $0.count > 1 ? $0.removeFirst() : $0[0] } }
}
