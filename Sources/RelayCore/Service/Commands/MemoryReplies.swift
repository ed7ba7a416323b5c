import RelayWire

/// The replies that are kept without a journal, as a value: a repetition is answered with the first reply.
///
/// In the order of their ends, at most `limit` of all users, and half as many of one: who calls much makes the service
/// forget its own first.
package struct MemoryReplies: Sendable {
    package static let limit = 1_024
    private struct Member: Hashable { let interface, command: String }
    private struct Call: Hashable {
        let user: UInt32
        let member: Member
        let key: String
    }
    private struct Kept {
        let arguments: Int64
        let reply: any Sendable
        let number: UInt64
    }
    private let limit: Int
    private var kept: [Call: Kept] = [:]
    private var count: [UInt32: Int] = [:]
    private var last: UInt64 = 0
    /// Of each member, the highest sequence of a version among the replies that were dropped.
    private var forgotten: [Member: UInt64] = [:]

    package init(limit: Int = Self.limit) { self.limit = limit }
    var total: Int { kept.count }

    /// The first reply; nil if there is none. Throws `KeyReused` if that call had other arguments.
    package func reply<Reply: Sendable>(to call: KeyedCall, as type: Reply.Type) throws(RelayError) -> Reply? {
        guard let known = kept[Self.call(call)] else { return nil }
        if !call.arguments.matches(known.arguments) { throw call.reused }
        return known.reply as? Reply
    }
    package mutating func keep(_ reply: any Sendable, to call: KeyedCall) {
        let (user, arguments) = (call.user, call.arguments.present)
        let call = Self.call(call)
        if kept[call] != nil { return }
        if count[user, default: 0] >= max(1, limit / 2) {
            dropOldest { $0.user == user }
        } else if kept.count >= limit {
            dropOldest { _ in true }
        }
        last += 1
        kept[call] = Kept(arguments: arguments, reply: reply, number: last)
        count[user, default: 0] += 1
    }
    /// The highest sequence of a version that a forgotten submission made: one that was based on a lower sequence and is
    /// not known may be such a one.
    package func forgotten(_ command: String, of interface: String) -> UInt64 {
        forgotten[Member(interface: interface, command: command)] ?? 0
    }
    private static func call(_ call: KeyedCall) -> Call {
        Call(user: call.user, member: Member(interface: call.interface, command: call.command), key: call.key)
    }
    private mutating func dropOldest(where isMeant: (Call) -> Bool) {
        guard let (call, oldest) = kept.filter({ isMeant($0.key) }).min(by: { $0.value.number < $1.value.number })
        else { return }
        kept[call] = nil
        if let version = oldest.reply as? DocumentVersion {
            forgotten[call.member] = max(forgotten[call.member] ?? 0, version.sequence)
        }
        let left = count[call.user, default: 1] - 1
        count[call.user] = left == 0 ? nil : left
    }
}
