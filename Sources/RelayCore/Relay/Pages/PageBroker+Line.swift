import Glibc
import Synchronization

/// Pages of a long replay come through a socket that the owner was given, and not through the bus.
extension PageBroker {
    /// A page of so many bytes is one of many.
    private static let worthwhile = 64 << 10
    /// Of the socket: a page and its overhead. The kernel gives what the administrator allows, and twice that.
    private static let room: Int32 = 512 << 10
    /// No page is larger.
    private static let longest = 1 << 20

    /// A page came as a message.
    func openLine(afterPage size: Int, _ stream: StreamController) {
        guard size >= Self.worthwhile, owner.features.contains(.replays), case .unused = line.onLoop, owner.isPresent
        else { return }
        // Pages go on coming as messages, after the next of which this is tried again.
        guard owner.hasRoom(forDescriptors: 3, "the replay of \(stream.interface)") else { return }
        var ends: [Int32] = [-1, -1]
        let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
        guard owner.canPassDescriptors, socketpair(AF_UNIX, type, 0, &ends) == 0 else {
            line.onLoop = .refused
            return
        }
        var room = Self.room
        setsockopt(ends[1], SOL_SOCKET, SO_SNDBUF, &room, socklen_t(MemoryLayout<Int32>.size))
        let (ours, theirs) = (ReceivedDescriptor(ends[0]), ReceivedDescriptor(ends[1]))
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
        _ result: Result<BusReply, RelayError>, _ socket: ReceivedDescriptor, _ member: StreamSubscriber
    ) -> Result<BusReply, RelayError>? {
        do throws(RelayError) {
            let reply = try result.get()
            let bytes = try reply.read(Stream1.replaySignature) { Int(try $0.uint32()) }
            if bytes <= Self.longest, let body = Self.read(bytes, from: socket) {
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
    /// Nil when there is less. Does not wait: what was answered is there.
    private static func read(_ size: Int, from socket: ReceivedDescriptor) -> [UInt8]? {
        let bytes = [UInt8](unsafeUninitializedCapacity: size) { bytes, count in
            while count < size {
                let rest = UnsafeMutableRawBufferPointer(rebasing: UnsafeMutableRawBufferPointer(bytes)[count..<size])
                let read = socket.withNumber { recv($0, rest.baseAddress, rest.count, Int32(MSG_DONTWAIT)) }
                if read < 0 && errno == EINTR { continue }
                if read <= 0 { return }
                count += read
            }
        }
        return bytes.count == size ? bytes : nil
    }
}

/// How far a relay is with its owner about a socket for pages.
enum ReplayLine {
    /// No replay was long enough.
    case unused
    case asked
    case open(ReceivedDescriptor)
    /// By an owner that does not know of it, or has no room; or the socket failed.
    case refused

    var isAsked: Bool { if case .asked = self { true } else { false } }
    var socket: ReceivedDescriptor? { if case .open(let socket) = self { socket } else { nil } }
}
