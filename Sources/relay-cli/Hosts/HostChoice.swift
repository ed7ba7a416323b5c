import RelayCore
import RelayTool
/// The host whose service is meant.
enum HostChoice: Equatable, Sendable {
    case one(String)
    /// Every mirror on the bus.
    case all
    static let everything = "*"
}

extension ValueKind where Value == HostChoice {
    static let host = ValueKind("HOST") { text throws(Unfit) in
        if text == HostChoice.everything { return .all }
        guard MirrorName.isHost(text) else {
            throw Unfit("is no host's name for mirrors; one looks like kitchen, and '*' stands for all")
        }
        return .one(text)
    }
}

extension Tool {
    /// The mirrors on a bus, by their hosts and services.
    func mirrors(on bus: BusChoice, timeout: Duration) throws(RelayError) -> [MirrorName] {
        try ServiceFinder(peer: try openPeer(bus, timeout)) { serviceFile($0, on: bus) }.mirrors(within: timeout)
    }
    /// The name of the mirror that is meant.
    ///
    /// - Parameter service: nil: none is named; then it is the only one of the host's.
    func mirror(of service: String?, at host: String, _ options: GlobalOptions) throws(CLIFailure) -> String {
        if let service {
            do throws(RelayError) { return try MirrorName(of: service, at: host).description } catch {
                throw CLIFailure(.usage, error.message)
            }
        }
        let bus = try locator.locate(options.bus)
        let all: [MirrorName]
        do throws(RelayError) { all = try mirrors(on: bus, timeout: options.timeout) } catch {
            throw CLIFailure(ofCall: error)
        }
        let own = all.filter { $0.host == host }
        if let only = own.first, own.count == 1 { return only.description }
        if own.isEmpty {
            let hosts = Set(all.map(\.host)).sorted()
            throw CLIFailure(
                .unavailable,
                "there is no mirror of the host '\(host)' on \(Bus(bus))"
                    + (hosts.isEmpty ? "" : "; there are mirrors of \(Words.list(hosts))")
                    + "; with --service NAME, watch waits for one")
        }
        throw CLIFailure(
            .usage,
            "the host '\(host)' has several mirrors: \(Words.list(own.map(\.service))); name one with --service NAME")
    }
}
