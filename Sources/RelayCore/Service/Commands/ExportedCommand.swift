import Glibc
import Synchronization
import RelayWire

/// One command of an exported interface, without its type.
class AnyExportedCommand: @unchecked Sendable {  // Immutable but for the handler, which has a lock.
    /// What to answer.
    enum Answer: Sendable {
        /// With the descriptors that the body has by their indices.
        case reply([UInt8], [ReceivedDescriptor])
        case error(name: String, message: String)
        /// The handler threw an error that the command does not declare, or its result cannot be sent. The caller gets
        /// the code and the message, the service's administrator the cause.
        case failed(RelayError.Code, message: String, cause: any Error)
        /// The arguments are no value of the command's type: no handler got it.
        case unreadable(message: String)
    }
    let name: String
    /// nil: it has no Swift type.
    let type: ObjectIdentifier?
    let arguments: [WireField]
    let signature: String
    let replySignature: Signature
    let requirement: PeerRequirement
    let isCancellable: Bool
    let reportsProgress: Bool
    let takesDescriptors: Bool
    /// Its reply may have some.
    let returnsDescriptors: Bool
    let length = RunLength()

    init(
        _ name: String, type: ObjectIdentifier? = nil, _ request: WireSchema, _ reply: WireSchema,
        _ requirement: PeerRequirement, isCancellable: Bool, reportsProgress: Bool, returnsDescriptors: Bool
    ) throws {
        self.type = type
        (self.name, arguments, signature) = (name, request.fields, request.signature)
        (replySignature, self.requirement) = (try Signature(reply.signature), requirement)
        (self.isCancellable, self.reportsProgress) = (isCancellable, reportsProgress)
        (takesDescriptors, self.returnsDescriptors) = (request.hasDescriptors, returnsDescriptors)
    }
    var hasHandler: Bool { false }
    /// Lets the handler, and what it keeps, go.
    func removeHandler() {}
    func answer(_ body: [UInt8], _ context: CommandContext) async -> Answer {
        .error(name: ErrorNames.unknownMethod, message: name)
    }
}

/// One command with its codecs and its handler.
final class ExportedCommand<C: Command>: AnyExportedCommand, @unchecked Sendable {
    typealias Handler = @Sendable (C, CommandContext) async throws -> C.Reply
    private let request: WireCodec<C>
    private let reply: WireCodec<C.Reply>
    private let progress: WireCodec<C.Progress>?
    /// A message's limit, less room for its header.
    private static var replyLimit: Int { WireLimits.defaultMessageLength - 1_024 }
    private struct Handling {
        let handler: Handler
        let publisher: CommandPublisher
    }
    private let handling = Mutex<Handling?>(nil)

    init(_ type: C.Type, admitting admitted: PeerRequirement) throws {
        request = try WireCodec(C.self)
        reply = try WireCodec(replyOf: C.self)
        progress = try WireCodec(progressOf: C.self)
        try super.init(
            C.name, type: ObjectIdentifier(C.self), request.schema, reply.schema, admitted.joined(by: C.requirement),
            isCancellable: C.isCancellable, reportsProgress: progress != nil,
            returnsDescriptors: reply.schema.hasDescriptors)
    }
    var fields: (request: [WireField], reply: [WireField], progress: [WireField]?) {
        (request.schema.fields, reply.schema.fields, progress?.schema.fields)
    }
    func setHandler(_ new: @escaping Handler, _ publisher: CommandPublisher) {
        handling.withLock { $0 = Handling(handler: new, publisher: publisher) }
    }
    override func removeHandler() {
        // Released outside the lock: what it keeps is anybody's.
        let old = handling.withLock { handling in
            defer { handling = nil }
            return handling
        }
        withExtendedLifetime(old) {}
    }
    private func decode(_ body: [UInt8], _ descriptors: [UInt32: ReceivedDescriptor]) throws -> C {
        func decoded() throws -> C { try body.withUnsafeBytes { try request.decode($0) } }
        if !takesDescriptors { return try decoded() }
        let bag = DescriptorBag(descriptors.compactMapValues { $0.disown() }) { ReceivedDescriptor.close($0) }
        return try DescriptorBag.$current.withValue(bag) { try decoded() }
    }
    /// The descriptors are sent, and closed if they cannot be.
    private func encode(_ value: C.Reply) throws -> (body: [UInt8], descriptors: [ReceivedDescriptor]) {
        var writer = WireWriter()
        if !returnsDescriptors {
            try reply.encode(value, into: &writer)
            return (writer.bytes, [])
        }
        let bag = DescriptorBag(isReply: true) { ReceivedDescriptor.close($0) }
        try DescriptorBag.$current.withValue(bag) { try reply.encode(value, into: &writer) }
        return (writer.bytes, bag.takeAll().map { ReceivedDescriptor($0) })
    }
    /// Why a disk let nothing be done, without its path.
    private static func text(of trouble: SystemError?) -> String {
        let trouble = trouble ?? SystemError(ENOSPC)
        return
            "\(trouble.clauseForPeers): nothing of \(C.name) was done; \(trouble.storageAdvice), and send it again"
    }
    /// Runs the handler in place of a command that is mapped to this one.
    func run(_ command: C, _ context: CommandContext) async throws -> C.Reply {
        guard let handling = handling.withLock({ $0 }) else {
            throw RelayError(.unavailable, "\(C.name) has no handler any more")
        }
        var context = context
        context.publisher = handling.publisher
        return try await handling.handler(command, context)
    }
    override var hasHandler: Bool { handling.withLock { $0 != nil } }

    override func answer(_ body: [UInt8], _ context: CommandContext) async -> Answer {
        guard let handling = handling.withLock({ $0 }) else { return await super.answer(body, context) }
        let command: C
        do {
            command = try decode(body, context.descriptors)
        } catch {
            return .unreadable(message: "\(C.name): \((error as? RelayError)?.message ?? "\(error)")")
        }
        var context = context
        // Who has a descriptor now is the command.
        context.descriptors = [:]
        context.publisher = handling.publisher
        if let progress { context.codec = progress }
        let value: C.Reply
        do {
            value = try await handling.handler(command, context)
        } catch let failure as C.Refusal {
            let name = "\(C.Interface.name).Error.\(failure.errorName)"
            if BusNames.isErrorName(name) { return .error(name: name, message: command.message(of: failure)) }
            let text = "\(C.name) was refused as '\(failure.errorName)', which is no D-Bus error name"
            return .failed(.internalFailure, message: text, cause: failure)
        } catch let error as RelayError {
            // Its code only: what is beneath may name files and values that are not the caller's business. And what
            // failed in doubt beneath, a call of another service, is in doubt for this caller, too.
            let code = error.mayHaveRun ? RelayError.Code.outcomeUnknown : error.code
            let text = "the service could not run \(C.name)"
            switch code {
            case .storageFull:
                // The journal has reported it, with its path.
                return .error(name: ErrorNames.name(for: code), message: Self.text(of: error.storageTrouble))
            // A disk that is read-only, or fails: whose it is, the notice says.
            case .unavailable where error.storageTrouble != nil:
                return .failed(code, message: Self.text(of: error.storageTrouble), cause: error)
            // The caller's own.
            case .keyReused: return .error(name: ErrorNames.name(for: code), message: text)
            default: return .failed(code, message: text, cause: error)
            }
        } catch is CancellationError where C.isCancellable && Task.isCancelled {
            return .error(name: ErrorNames.name(for: .cancelled), message: "\(C.name) was cancelled")
        } catch {
            return .failed(.internalFailure, message: "\(C.name) failed in the service", cause: error)
        }
        // From here on it has run, which the error's name has to show.
        do {
            let (body, descriptors) = try encode(value)
            if body.count <= Self.replyLimit { return .reply(body, descriptors) }
            return .error(
                name: ErrorNames.name(for: .tooLarge),
                message: "\(C.name) has run; its reply of \(body.count) bytes is over the limit of \(Self.replyLimit)"
            )
        } catch {
            let text = "\(C.name) has run; its reply cannot be carried: \((error as? RelayError)?.message ?? "")"
            return .failed(.internalFailure, message: text, cause: error)
        }
    }
}

/// The caller of a command, as the bus identifies it.
public struct Peer: Hashable, Sendable {
    /// The connection's unique name. It is valid until the bus or the peer restarts.
    public let uniqueName: String
    /// The user that the peer runs as; nil if the peer left before the service asked the bus.
    public let userID: UInt32?
    package init(_ uniqueName: String, user: UInt32?) { (self.uniqueName, userID) = (uniqueName, user) }
}
