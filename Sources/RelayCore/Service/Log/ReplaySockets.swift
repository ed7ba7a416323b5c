import Glibc

/// The sockets into which pages are written for peers that gave one, as a value: one for each peer.
///
/// A page that goes through the bus is copied and checked by its daemon, 2 KiB at a time. A socket costs none of that.
/// Unlike shared memory, it can neither be cut short under its user nor block the writer: a page without room is an
/// error.
struct ReplaySockets {
    private struct Entry {
        let socket: ReplaySocket
        let charge: PeerLedger.Charge
    }
    private var entries: [String: Entry] = [:]

    var count: Int { entries.count }

    /// Takes a peer's socket, in place of the one that it gave before.
    mutating func add(_ socket: ReplaySocket, of peer: String, _ ledger: PeerLedger) throws(PeerLedger.Refusal) {
        if let charge = entries[peer]?.charge {
            entries[peer] = Entry(socket: socket, charge: charge)
        } else {
            entries[peer] = Entry(socket: socket, charge: try ledger.charge(.replaySockets, to: peer))
        }
    }
    func socket(of peer: String) -> ReplaySocket? { entries[peer]?.socket }
    /// Gives a socket up, unless the peer has given another one since.
    mutating func remove(_ socket: ReplaySocket, of peer: String) {
        if entries[peer]?.socket === socket { entries[peer] = nil }
    }
    mutating func depart(_ peer: String) { entries[peer] = nil }
}

/// One peer's socket. On any thread; one page at a time, as a peer has one only.
///
/// Its options are the peer's to set: to set one takes a lock that the peer can hold while it sleeps. Neither to ask
/// for its kind and its names nor to write does.
final class ReplaySocket: Sendable {
    private let descriptor: ReceivedDescriptor

    /// Throws `.invalidArgument` for what is no stream socket of this machine: only of those it is known that a write
    /// never waits. And for a socket with a name at either end: a peer could have connected it to another service,
    /// which would take what is written for this process's own word.
    init(_ descriptor: ReceivedDescriptor) throws(RelayError) {
        let (domain, type) = (Self.option(SO_DOMAIN, descriptor), Self.option(SO_TYPE, descriptor))
        guard domain == AF_UNIX, type == Int32(SOCK_STREAM.rawValue) else {
            throw RelayError(.invalidArgument, "OpenReplay takes a stream socket of the domain AF_UNIX")
        }
        // A socket that was connected to a name, or accepted there, shows that name at one end for good.
        guard Self.isUnnamed(descriptor, getsockname), Self.isUnnamed(descriptor, getpeername) else {
            throw RelayError(
                .invalidArgument,
                "OpenReplay takes an end of a socketpair(2), and no socket with a name or a named peer")
        }
        self.descriptor = descriptor
    }
    private static func isUnnamed(
        _ descriptor: ReceivedDescriptor,
        _ ask: (Int32, UnsafeMutablePointer<sockaddr>?, UnsafeMutablePointer<socklen_t>?) -> Int32
    ) -> Bool {
        var (address, size) = (sockaddr(), socklen_t(MemoryLayout<sockaddr>.size))
        let isAnswered = descriptor.withNumber { ask($0, &address, &size) } == 0
        // Nothing but the family. Of a longer name the size is reported all the same.
        return isAnswered && size <= socklen_t(MemoryLayout<sa_family_t>.size)
    }
    private static func option(_ name: Int32, _ descriptor: ReceivedDescriptor) -> Int32? {
        var (value, size): (Int32, socklen_t) = (0, socklen_t(MemoryLayout<Int32>.size))
        return descriptor.withNumber { getsockopt($0, SOL_SOCKET, name, &value, &size) } == 0 ? value : nil
    }
    /// Writes all of it, without waiting. False: there was no room, or nobody reads any more; then it is of no use any
    /// more.
    func write(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var rest = bytes
        while !rest.isEmpty {
            let flags = Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL)
            let count = descriptor.withNumber { send($0, rest.baseAddress, rest.count, flags) }
            if count < 0 && errno == EINTR { continue }
            if count <= 0 { return false }
            rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(count))
        }
        return true
    }
}
