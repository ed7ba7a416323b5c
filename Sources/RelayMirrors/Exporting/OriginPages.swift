import RelayCore
import Synchronization
import RelayWire

/// The pages of an origin's journal: by messages, and by a socket once they are large. One is asked for at a time, and the
/// next one while that is worked at.
final class OriginPages: Sendable {
    private enum Line {
        /// No page was large.
        case unused
        case open(PageSocket)
        /// Pages come by messages: the origin has no socket for this exporter, or a page is on its way in one.
        case closed
    }
    private let connection: OriginConnection
    private let path: String
    private let line: Mutex<Line>
    /// The page behind the one that was read last, on its way.
    private let ahead = Mutex<(after: UInt64, page: Task<[UInt8], any Error>)?>(nil)

    init(_ connection: OriginConnection, _ path: String, hasReplays: Bool) {
        (self.connection, self.path) = (connection, path)
        line = Mutex(hasReplays && connection.passesDescriptors ? .unused : .closed)
    }

    /// Asks for what follows a sequence, and reads it.
    func read<Page>(
        after sequence: UInt64, _ read: (inout WireReader) throws -> Page
    ) async throws(RelayError) -> Page {
        let bytes = try await take(sequence)
        let page = try connection.read(page: bytes) { reader in
            defer { reader.position = reader.count }
            return try PageReader.trailer(reader)
        }
        for number in [page.through, page.head, page.oldest] where number > MirrorHeader.lastSequence {
            throw RelayError(.schemaMismatch, "\(connection.service) sent a page with the sequence \(number)")
        }
        if page.through > sequence, page.through < page.head {
            let next = Task(executorPreference: HandlerThreads.own) { try await self.fetch(page.through) }
            ahead.withLock { $0 = (page.through, next) }
        }
        return try connection.read(page: bytes, read)
    }
    private func take(_ sequence: UInt64) async throws(RelayError) -> [UInt8] {
        let present = ahead.withLock { ahead in
            defer { ahead = nil }
            return ahead
        }
        guard let present else { return try await fetch(sequence) }
        if present.after != sequence { present.page.cancel() }
        do {
            // The origin has room for one question: the answer is awaited, whatever becomes of it.
            let page = try await present.page.value
            if present.after == sequence { return page }
        } catch { if present.after == sequence { throw RelayError(asking: connection.service, error) } }
        return try await fetch(sequence)
    }

    // MARK: Asking

    private func fetch(_ sequence: UInt64) async throws(RelayError) -> [UInt8] {
        let arguments = { (body: inout WireWriter) throws in
            try Stream1.write(StreamRead(names: [Stream1.allNames], after: sequence, limit: 0), into: &body)
        }
        if let page = try await replay(arguments) { return page }
        let page = try await connection.ask(
            "Read", at: path, Stream1.readSignature, returning: Stream1.pageSignature, arguments: arguments
        ) { reader in
            Array(reader.bytes(0..<reader.count, from: 0))
        }
        if page.count >= PageSocket.worthwhile { try await open() }
        return page
    }
    /// nil: it is to be asked for by a message.
    private func replay(_ arguments: (inout WireWriter) throws -> Void) async throws(RelayError) -> [UInt8]? {
        // Nobody else uses it meanwhile. One that is not put back may have a page that nobody reads.
        let taken = line.withLock { line -> PageSocket? in
            guard case .open(let socket) = line else { return nil }
            line = .closed
            return socket
        }
        guard let socket = taken else { return nil }
        do throws(RelayError) {
            let size = try await connection.ask(
                "Replay", at: path, Stream1.readSignature, returning: Stream1.replaySignature, arguments: arguments
            ) {
                Int(try $0.uint32())
            }
            if let page = socket.read(size) {
                line.withLock { $0 = .open(socket) }
                return page
            }
            line.withLock { $0 = .unused }
        } catch {
            switch error.code {
            // It has no room for this page, and is as it was.
            case .tooLarge: line.withLock { $0 = .open(socket) }
            // There may be a page in it, or none at all.
            case .conflict, .timedOut: line.withLock { $0 = .unused }
            default: throw error
            }
        }
        return nil
    }
    private func open() async throws(RelayError) {
        guard line.withLock({ if case .unused = $0 { true } else { false } }) else { return }
        let pair = PageSocket.pair()
        line.withLock { $0 = .closed }
        guard let (ours, theirs) = pair else { return }
        do throws(RelayError) {
            try await connection.ask(
                "OpenReplay", at: path, Stream1.openReplaySignature, returning: "", passing: [theirs]
            ) { _ in
            }
            line.withLock { $0 = .open(ours) }
        } catch { if error.code == .unavailable { throw error } }
    }
}
