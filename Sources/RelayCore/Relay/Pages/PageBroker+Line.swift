import Synchronization
import RelayWire

/// Pages of a long replay come through a socket that the owner was given, and not through the bus.
extension PageBroker {
    /// A page came as a message.
    func openLine(afterPage size: Int, _ stream: StreamController) {
        guard size >= PageSocket.worthwhile, owner.features.contains(.replays), case .unused = line.onLoop,
            owner.isPresent
        else { return }
        // Pages go on coming as messages, after the next of which this is tried again.
        guard owner.hasRoom(forDescriptors: 3, "the replay of \(stream.interface)") else { return }
        guard owner.canPassDescriptors, let (ours, theirs) = PageSocket.pair() else {
            line.onLoop = .refused
            return
        }
        line.onLoop = .asked
        let generation = generation
        owner.ask("OpenReplay", at: stream.path, descriptors: [theirs]) { [self] result in
            guard self.generation == generation else { return }
            if case .success = result { line.onLoop = .open(ours) } else { line.onLoop = .refused }
            readNext()
        }
    }
    /// What `Replay` answered, as `Read` would have. Nil: the page is to be asked for once more, by `Read`.
    func replayed(
        _ result: Result<BusReply, RelayError>, _ socket: PageSocket, _ member: StreamSubscriber
    ) -> Result<BusReply, RelayError>? {
        do throws(RelayError) {
            let reply = try result.get()
            let bytes = try reply.read(Stream1.replaySignature) { Int(try $0.uint32()) }
            if let body = socket.read(bytes) {
                replayedPages.add(1, ordering: .relaxed)
                return .success(BusReply(sender: reply.sender, signature: Stream1.pageSignature, body: body))
            }
            // Nobody knows what the socket has next.
            line.onLoop = .refused
        } catch {
            switch error.code {
            case .limitsExceeded, .unavailable: return result
            // The page may be in the socket, or come there. Another socket takes its place.
            case .timedOut:
                line.onLoop = .unused
                return result
            // Has no room for this page, but for others.
            case .tooLarge: member.needsMessage = true
            default: line.onLoop = .refused
            }
        }
        return nil
    }
}

/// How far a relay is with its owner about a socket for pages.
enum ReplayLine {
    /// No replay was long enough.
    case unused
    case asked
    case open(PageSocket)
    /// By an owner that does not know of it, or has no room; or the socket failed.
    case refused

    var isAsked: Bool { if case .asked = self { true } else { false } }
    var socket: PageSocket? { if case .open(let socket) = self { socket } else { nil } }
}
