import Glibc
import Synchronization

/// A file descriptor as a field of a command or of its reply: it passes from the caller to the handler, or back.
///
/// ```swift
/// struct PrintFile: Command {
///     typealias Interface = Printing1
///     let title: String, file: TransferredDescriptor
/// }
/// try await relay.call(PrintFile(title: "Invitation", file: TransferredDescriptor(descriptor)))
/// service.handle(PrintFile.self) { job, _ in try await print(try job.file.take()) }
/// ```
///
/// A descriptor has exactly one owner at any time. First this object owns it, then the message that sends it or the
/// code that takes it. The last owner closes it. So it is closed exactly once, even if no code takes it, the call is
/// refused, or the service is gone. Both sides share one open file, with one offset.
///
/// A command can contain 16 descriptors, and a reply 8, also in arrays and optionals. Events, documents and progress
/// cannot contain any, because they have many receivers or may be dropped. Neither can the reply of an
/// ``IdempotentCommand``, because the journal keeps it.
///
/// A bus stops reading from a service when callers leave too many of its descriptors unread. A service therefore has at
/// most one unread reply with descriptors for each caller, and at most 22 unread descriptors in all. The caller's next
/// such command waits until the caller has read the previous reply. After 2 s the command is refused with
/// `.limitsExceeded`, without having run.
///
/// - Isolation: from any thread.
public final class TransferredDescriptor: Codable, Sendable {
    private let number: Mutex<Int32?>
    private let close: @Sendable (Int32) -> Void

    private init(_ number: Int32, closing close: @escaping @Sendable (Int32) -> Void) {
        self.number = Mutex(number)
        self.close = close
    }
    /// Takes over a descriptor.
    ///
    /// - Parameter descriptor: the descriptor, which this object owns from now on.
    public convenience init(_ descriptor: consuming OwnedDescriptor) {
        self.init(descriptor.release()) { Glibc.close($0) }
    }
    /// Duplicates a descriptor. The original still belongs to its owner.
    ///
    /// - Parameter number: the descriptor.
    /// - Throws: `.unavailable` if it is not an open descriptor, or if the process has no descriptors left.
    public convenience init(duplicating number: Int32) throws(RelayError) {
        let copy = fcntl(number, F_DUPFD_CLOEXEC, 0)
        if copy < 0 {
            let failure = SystemError(errno)
            throw RelayError(.unavailable, "descriptor \(number) cannot be duplicated: \(failure)", cause: failure)
        }
        self.init(copy) { Glibc.close($0) }
    }
    deinit { if let number = number.withLock({ $0 }) { close(number) } }

    /// Hands the descriptor over to the caller of this method, once.
    ///
    /// - Returns: the descriptor, which closes when it is released.
    /// - Throws: `.conflict` if it was taken or sent before.
    public func take() throws(RelayError) -> OwnedDescriptor { OwnedDescriptor(try takeNumber()) }
    private func takeNumber() throws(RelayError) -> Int32 {
        let taken = number.withLock { number in
            defer { number = nil }
            return number
        }
        guard let taken else { throw RelayError(.conflict, "the file descriptor was taken or sent before") }
        return taken
    }

    /// Decodes a descriptor from the message of a command or of its reply. No other decoder can contain one.
    public convenience init(from decoder: any Decoder) throws {
        guard let bag = DescriptorBag.current else { throw Self.foreign }
        let index = try decoder.singleValueContainer().decode(UInt32.self)
        self.init(try bag.claim(index), closing: bag.close)
    }
    /// Encodes the descriptor into the message of a command or of its reply. From then on the message owns it.
    public func encode(to encoder: any Encoder) throws {
        guard let bag = DescriptorBag.current else { throw Self.foreign }
        var container = encoder.singleValueContainer()
        try container.encode(try bag.add { () throws(RelayError) in try takeNumber() })
    }
    private static var foreign: RelayError {
        RelayError(.invalidArgument, "a file descriptor travels in the arguments of a command or in its reply only")
    }
    /// For the derivation of schemas: nothing is open.
    package static func sample() -> TransferredDescriptor {
        let sample = TransferredDescriptor(-1) { _ in }
        return sample
    }
}

/// The file descriptors of one message while it is encoded or decoded. Those that are left are closed with this.
package final class DescriptorBag: Sendable {
    /// What the encoder or decoder at work fills, or takes from.
    @TaskLocal package static var current: DescriptorBag?
    /// How many a message has at the most: what a bus passes on, unless it is configured otherwise.
    package static let limit = 16
    /// How many a reply has at the most: what its caller has not read counts against the service.
    package static let replyLimit = 8

    private let numbers: Mutex<[UInt32: Int32]>
    private let isReply: Bool
    package let close: @Sendable (Int32) -> Void

    /// - Parameters:
    ///   - numbers: what came, by their indices; closed here unless they are claimed.
    ///   - isReply: it is a reply's, which may have fewer.
    ///   - close: closes one.
    package init(
        _ numbers: [UInt32: Int32] = [:], isReply: Bool = false, closing close: @escaping @Sendable (Int32) -> Void
    ) {
        self.numbers = Mutex(numbers)
        (self.isReply, self.close) = (isReply, close)
    }
    deinit { for number in takeAll() { close(number) } }

    fileprivate func add(_ take: () throws(RelayError) -> Int32) throws(RelayError) -> UInt32 {
        let result = numbers.withLock { numbers in
            Result { () throws(RelayError) in
                let limit = isReply ? Self.replyLimit : Self.limit
                if numbers.count >= limit {
                    throw RelayError(
                        .tooLarge, "a \(isReply ? "reply" : "command") has at most \(limit) file descriptors")
                }
                let index = UInt32(numbers.count)
                numbers[index] = try take()
                return index
            }
        }
        return try result.get()
    }
    fileprivate func claim(_ index: UInt32) throws(RelayError) -> Int32 {
        guard let number = numbers.withLock({ $0.removeValue(forKey: index) }) else {
            throw RelayError(.invalidArgument, "the message has no file descriptor \(index), or has it twice")
        }
        return number
    }
    /// Those that were added, in the order of their indices. They are the caller's.
    package func takeAll() -> [Int32] {
        numbers.withLock { numbers in
            defer { numbers = [:] }
            return numbers.sorted { $0.key < $1.key }.map(\.value)
        }
    }
}
