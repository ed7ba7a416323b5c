/// What peers may hold of a service: numbered, as each one has a place in every account.
///
/// The table of docs/internals/PROTOCOL.md is made from this one.
enum PeerResource: Int, CaseIterable, Sendable {
    case queuedCalls, queuedBytes
    case lookUpCalls, lookUpBytes
    case gateCalls, gateBytes
    case runCalls, runBytes
    case prompts, polkitQuestions
    case callDescriptors, replyDescriptors
    case ringCalls, ringReplies, waitPages
    case unreadReplies, heldReplies
    case pages, replaySockets

    /// How much of the resource a user may have.
    enum Share: Hashable, Sendable {
        case upTo(Int)
        /// More only while it then has at most twice what is left: so there is always some for a user that has none.
        case twiceTheRest
    }
    struct Bounds: Sendable {
        /// In the plural, as it stands in the table and in a refusal.
        let what: String
        var unit = Unit.pieces
        let peer: Int
        /// One item more may begin below the peer's bound, and end above it.
        var isMark = false
        let user: Share
        let total: Int
        /// Each peer's own, whatever the others have: beside the two bounds before.
        var reserve = 0

        enum Unit: Sendable { case pieces, bytes }
        /// What one user gets when nobody else has any.
        var share: Int {
            switch user {
            case .upTo(let most): most
            case .twiceTheRest: 2 * total / 3
            }
        }
    }
    /// The bus counts the descriptors of unread replies of whatever kind against the service's one connection:
    /// dbus-daemon, as it is built, stops reading from one of which it keeps 64.
    static let unreadDescriptors = 62
    /// How many of those one of the resource takes.
    var unreadDescriptors: Int { [.replyDescriptors: 1, .ringReplies: 2][self] ?? 0 }

    var bounds: Bounds {
        switch self {
        case .queuedCalls: Self.calls("calls that wait for their turn")
        case .queuedBytes: Self.arguments("arguments of calls that wait for their turn")
        case .lookUpCalls: Self.calls("calls whose caller is not known yet")
        case .lookUpBytes: Self.arguments("arguments of calls whose caller is not known yet")
        case .gateCalls: Self.calls("calls that polkit has to decide")
        case .gateBytes: Self.arguments("arguments of calls that polkit has to decide")
        case .runCalls: Self.calls("calls of Attach that wait for a run of long ago")
        case .runBytes: Self.arguments("arguments of calls of Attach that wait for a run of long ago")
        case .prompts: Bounds(what: "commands that wait for a person", peer: 4, user: .upTo(16), total: 1_024)
        case .polkitQuestions: Bounds(what: "open questions to polkit", peer: 56, user: .twiceTheRest, total: 56)
        case .callDescriptors:
            Bounds(
                what: "file descriptors of calls that wait or run", peer: 2 * DescriptorBag.limit, user: .twiceTheRest,
                total: 256)
        case .replyDescriptors:
            Bounds(
                what: "file descriptors of unread replies", peer: DescriptorBag.replyLimit, user: .twiceTheRest,
                total: 22)
        case .ringReplies:
            Bounds(
                what: "unread replies of OpenRing, with 2 file descriptors each", peer: 1, user: .twiceTheRest,
                total: 28)
        case .ringCalls:
            Bounds(what: "calls of OpenRing that wait", peer: 16, user: .twiceTheRest, total: 1_024, reserve: 1)
        case .waitPages: Bounds(what: "wait pages", peer: 1, user: .upTo(64), total: 256)
        case .unreadReplies:
            Bounds(
                what: "unread replies", unit: .bytes, peer: 1 << 20, isMark: true, user: .upTo(8 << 20),
                total: 24 << 20, reserve: 32 << 10)
        case .heldReplies:
            Bounds(
                what: "replies that wait until others were read", unit: .bytes, peer: 1 << 20, user: .upTo(16 << 20),
                total: 24 << 20)
        case .pages:
            Bounds(
                what: "unread pages", unit: .bytes, peer: 1 << 20, user: .upTo(4 << 20),
                total: 16 << 20)
        case .replaySockets: Bounds(what: "sockets for replays", peer: 1, user: .upTo(64), total: 256)
        }
    }
    private static func calls(_ what: String) -> Bounds {
        Bounds(what: what, peer: CallBounds.calls, user: .upTo(6_400), total: 16_384, reserve: 2)
    }
    private static func arguments(_ what: String) -> Bounds {
        Bounds(
            what: what, unit: .bytes, peer: CallBounds.bytes, user: .upTo(16 << 20), total: 64 << 20, reserve: 16 << 10)
    }
}

// MARK: The page's table

extension PeerResource {
    /// The table in docs/internals/PROTOCOL.md.
    static var table: String {
        var lines = ["| what | of a peer | of a user | of all | each peer's own |", "| --- | --- | --- | --- | --- |"]
        for resource in allCases {
            let bounds = resource.bounds
            let user =
                bounds.user == .twiceTheRest ? "\(bounds.text(bounds.share)), two thirds" : bounds.text(bounds.share)
            let own = bounds.reserve == 0 ? "" : "\(bounds.text(bounds.reserve)), beside those"
            lines.append(
                "| \(bounds.what) | \(bounds.text(bounds.peer)) | \(user) | \(bounds.text(bounds.total)) | \(own) |")
        }
        lines.append("| file descriptors of all unread replies | | | \(unreadDescriptors) | |")
        return lines.joined(separator: "\n").replacing("|  |", with: "| |")
    }
}

extension PeerResource.Bounds {
    /// An amount, for a person.
    func text(_ amount: Int) -> String {
        if unit == .bytes {
            for (size, name) in [(1 << 20, "MiB"), (1 << 10, "KiB")] where amount >= size && amount.isMultiple(of: size)
            {
                return "\(amount / size) \(name)"
            }
            return "\(Self.grouped(amount)) bytes"
        }
        return Self.grouped(amount)
    }
    private static func grouped(_ number: Int) -> String {
        let digits = Array(String(number))
        return digits.indices.reduce(into: "") { text, index in
            if index > 0 && (digits.count - index).isMultiple(of: 3) { text.append(",") }
            text.append(digits[index])
        }
    }
}
