import RelayCore
import Synchronization

/// What a `MemoryLog` keeps, by interface.
package final class MemoryLogStore: Sendable {
    private let streams = Mutex<[String: MemoryStream]>([:])
    private let replies = Mutex(MemoryReplies(limit: .max))

    init() {}

    /// Changes all interfaces in one step.
    func change<Result: Sendable>(_ body: (inout [String: MemoryStream]) -> Result) -> Result {
        streams.withLock { body(&$0) }
    }
    /// An interface as it stands.
    func stream(_ name: String) -> MemoryStream { streams.withLock { $0[name] } ?? MemoryStream() }

    /// The first reply to a call; nil if there is none.
    func reply<Reply: Sendable>(to call: KeyedCall, as type: Reply.Type) throws -> Reply? {
        try replies.withLock { try $0.reply(to: call, as: type) }
    }
    func keep(_ reply: any Sendable, to call: KeyedCall) { replies.withLock { $0.keep(reply, to: call) } }
    func forgotten(_ command: String, of interface: String) -> UInt64 {
        replies.withLock { $0.forgotten(command, of: interface) }
    }
}
