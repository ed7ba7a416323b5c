import RelayCore
import RelayTool
import RelayWire

/// The doctor's checks, one after the other: those of the bus and the system, then those of each service. What a check
/// needs, and another found missing, is not asked again.
///
/// They ask, and change nothing: none takes a name, starts a service, or makes a file.
struct Examination {
    let timeout: Duration
    let facts: SystemFacts
    let serviceFile: @Sendable (_ name: String, _ bus: BusChoice) -> String?
    let programs: (any BusPeer, [String]) -> [String: String]
    let bridge: (any BusPeer, Duration) -> BridgeStatus?
    var report: (Finding) -> Void = { _ in }
    /// Of several services: what follows is about this one.
    var heading: (_ service: String) -> Void = { _ in }
    /// What the bus permits to whom.
    private(set) var access: AccessHelp

    init(
        timeout: Duration, facts: SystemFacts, serviceFile: @escaping @Sendable (String, BusChoice) -> String?,
        programs: @escaping (any BusPeer, [String]) -> [String: String],
        bridge: @escaping (any BusPeer, Duration) -> BridgeStatus? = { $0.bridge(within: $1) }
    ) {
        (self.timeout, self.facts, self.serviceFile, self.programs) = (timeout, facts, serviceFile, programs)
        self.bridge = bridge
        access = AccessHelp(account: facts.account(), policy: nil, group: facts.group)
    }

    /// - Parameter service: nil: all on the bus.
    mutating func run(
        service named: String?, locate: () throws(CLIFailure) -> BusChoice,
        open: (BusChoice) throws(RelayError) -> any BusPeer
    ) {
        let found = bus(locate, open)
        if let (peer, _) = found { descriptors(peer) }
        memory()
        limits(found?.0)
        clock()
        guard let (peer, bus) = found else { return versions(nil, nil) }
        access = AccessHelp(account: access.account, policy: facts.policy(bus, peer), group: facts.group)
        let names = services(named, peer, bus)
        let reportOfAny = report
        for name in names {
            if names.count > 1 { heading(name) }
            report = { reportOfAny($0.about(name)) }
            examine(name, peer, bus)
        }
        report = reportOfAny
    }
    private func examine(_ name: String, _ peer: any BusPeer, _ bus: BusChoice) {
        guard let owner = owner(of: name, peer, bus) else { return versions(nil, nil) }
        own(name, owner)
        guard let catalogue = send(name, owner, peer) else { return versions(nil, nil) }
        let attachment = receive(catalogue, owner, peer)
        let all = statuses(catalogue, owner, peer)
        ring(all, owner, peer)
        journal(all)
        disk(all)
        storage(all)
        for finding in bridge(peer, timeout).flatMap({ BridgedService(name, $0) })?.findings ?? [] { report(finding) }
        versions(
            attachment, all.lazy.compactMap { $0.status?.version }.first,
            hasEvents: catalogue.offered.contains { !$0.interface.events.isEmpty })
    }

    func user(_ id: UInt32) -> String { id == facts.userID ? "user \(id), as you are" : "user \(id)" }

    private func bus(
        _ locate: () throws(CLIFailure) -> BusChoice, _ open: (BusChoice) throws(RelayError) -> any BusPeer
    ) -> (any BusPeer, BusChoice)? {
        let bus: BusChoice
        do throws(CLIFailure) { bus = try locate() } catch {
            report(Finding("bus", .failed, error.message))
            return nil
        }
        do throws(RelayError) {
            let peer = try open(bus)
            report(Finding("bus", .ok, "\(Bus(bus)) answers; this program is \(peer.name)"))
            return (peer, bus)
        } catch {
            report(
                Finding(
                    "bus", .failed, error.message,
                    remedy: "name another bus with --bus ADDRESS" + (bus == .system ? "" : ", or use --system")))
            return nil
        }
    }

    /// None: which they are cannot be found out.
    private func services(_ named: String?, _ peer: any BusPeer, _ bus: BusChoice) -> [String] {
        if let named { return [named] }
        do throws(RelayError) {
            let services = try ServiceFinder(peer: peer) { serviceFile($0, bus) }.services()
            return services.isEmpty ? [ServiceFinder.standard] : services.map(\.name)
        } catch {
            report(Finding("name", .failed, "the bus does not list its names: \(error.message)"))
            return []
        }
    }

    struct Owner {
        let name: String
        let userID: UInt32?
    }
    /// nil: there is none, and nothing of the service can be asked.
    private func owner(of name: String, _ peer: any BusPeer, _ bus: BusChoice) -> Owner? {
        do throws(RelayError) {
            guard let call = MethodCall.toBus("GetNameOwner", of: name) else { return nil }
            let owner = try peer.ask(call, within: timeout).read("s") { try $0.string() }
            let user = MethodCall.toBus("GetConnectionUnixUser", of: owner).flatMap { call in
                try? peer.ask(call, within: timeout).read("u") { try $0.uint32() }
            }
            let program = programs(peer, [owner])[owner].map { "\($0), " } ?? ""
            let who = user.map { " (\(program)\(self.user($0)))" } ?? ""
            report(Finding("name", .ok, "'\(name)' is owned by \(owner)\(who)"))
            return Owner(name: owner, userID: user)
        } catch  where (error.cause as? RemoteError)?.name == "org.freedesktop.DBus.Error.NameHasNoOwner" {
            absent(name, peer, bus)
        } catch {
            report(Finding("name", .failed, "'\(name)': \(error.message)"))
        }
        return nil
    }
    private func absent(_ name: String, _ peer: any BusPeer, _ bus: BusChoice) {
        let names = try? peer.ask(.toBus("ListActivatableNames"), within: timeout).read("as") { reader in
            var names: [String] = []
            let end = try reader.beginArray(elementAlignment: 4)
            while reader.position < end { names.append(try reader.string()) }
            return names
        }
        guard names?.contains(name) == true else {
            return report(
                Finding(
                    "name", .failed, "nobody owns '\(name)', and the bus knows no way to start it",
                    remedy: "start the service, install its D-Bus service file, or name another with --service NAME"))
        }
        report(Finding("name", .ok, "nobody owns '\(name)' now; the bus starts the service when it is called"))
        start(of: name, peer, bus)
        if let policy = access.policy, !policy.allowsCalling(name, access.account) { refused(name) }
        report(
            Finding(
                "service", .warning,
                "it does not run, and is not started by looking at it: policy, journal and disk are "
                    + "not examined",
                remedy: "start it, for example with 'relay-cli \(Self.option(of: bus))-s \(name) list', and ask again"))
    }
    /// By which another command asks the same bus, with a blank behind it.
    private static func option(of bus: BusChoice) -> String {
        switch bus {
        case .session: ""
        case .system: "--system "
        case .address(let address): "--bus \(Words.quoted(address)) "
        }
    }
    /// What would start it, and whether that has failed.
    private func start(of name: String, _ peer: any BusPeer, _ bus: BusChoice) {
        let probe = UnitProbe(peer: peer, on: bus, facts: facts) { [serviceFile] in serviceFile($0, bus) }
        let found = probe.look(name)
        if let reason = probe.reason(found) {
            return report(Finding("unit", .failed, reason.text, remedy: reason.remedy))
        }
        if case .unit(let unit, let state) = found {
            report(Finding("unit", .ok, "its unit \(unit) is \(state.active) (\(state.sub)), and has not failed"))
        }
    }
    /// The bus lets this user not call the service.
    func refused(_ name: String, _ words: String = "") {
        report(
            Finding(
                "send", .failed, "the bus does not let \(access.account.title) call the service\(words)",
                remedy: access.remedy(forCalling: name)
                    ?? "allow 'send_destination' to this user or to a group of theirs, in a policy file of the bus"))
    }
}
