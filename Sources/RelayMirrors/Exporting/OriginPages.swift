import RelayCore
import Synchronization

/// The pages of an origin's journal: by messages, and by a socket once they are large. One is asked for at a time.
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

    init(_ connection: OriginConnection, _ path: String, hasReplays: Bool) {
        (self.connection, self.path) = (connection, path)
        line = Mutex(hasReplays && connection.passesDescriptors ? .unused : .closed)
    }

    /// Asks for what follows a sequence, and reads it.
    func read<Page>(
        after sequence: UInt64, _ read: (inout WireReader) throws -> Page
    ) async throws(RelayError) -> Page {
        let arguments = { (body: inout WireWriter) throws in
            try Stream1.write(StreamRead(names: [Stream1.allNames], after: sequence, limit: 0), into: &body)
        }
        if let page = try await replay(arguments, read) { return page }
        var size = 0
        let page = try await connection.ask(
            "Read", at: path, Stream1.readSignature, returning: Stream1.pageSignature, arguments: arguments
        ) { reader in
            size = reader.remaining
            return try read(&reader)
        }
        if size >= PageSocket.worthwhile { try await open() }
        return page
    }
    /// nil: it is to be asked for by a message.
    private func replay<Page>(
        _ arguments: (inout WireWriter) throws -> Void, _ read: (inout WireReader) throws -> Page
    ) async throws(RelayError) -> Page? {
        // Nobody else uses it meanwhile. One that is not put back may have a page that nobody reads.
        let taken = line.withLock { line -> PageSocket? in
            guard case .open(let socket) = line else { return nil }
            line = .closed
            return socket
        }
        guard let socket = taken else { return nil }
        let size: Int
        do throws(RelayError) {
            size = try await connection.ask(
                "Replay", at: path, Stream1.readSignature, returning: Stream1.replaySignature, arguments: arguments
            ) {
                Int(try $0.uint32())
            }
        } catch {
            switch error.code {
            // It has none for this page, and is as it was.
            case .tooLarge: line.withLock { $0 = .open(socket) }
            // There may be one in it, or none at all.
            case .conflict, .timedOut: line.withLock { $0 = .unused }
            default: throw error
            }
            return nil
        }
        guard let body = socket.read(size) else {
            line.withLock { $0 = .unused }
            return nil
        }
        line.withLock { $0 = .open(socket) }
        return try connection.read(page: body, read)
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
