import RelayCore
import RelayTool

/// The doctor's checks, one after the other. What a check needs, and another found missing, is not asked again.
struct Examination {
    let timeout: Duration
    let facts: SystemFacts
    let serviceFile: (_ name: String, _ bus: BusChoice) -> String?
    let programs: (any BusPeer, [String]) -> [String: String]
    var report: (Finding) -> Void = { _ in }

    init(
        timeout: Duration, facts: SystemFacts, serviceFile: @escaping (String, BusChoice) -> String?,
        programs: @escaping (any BusPeer, [String]) -> [String: String]
    ) {
        (self.timeout, self.facts, self.serviceFile, self.programs) = (timeout, facts, serviceFile, programs)
    }

    /// - Parameter service: nil: the only one on the bus.
    func run(
        service named: String?, locate: () throws(CLIFailure) -> BusChoice,
        open: (BusChoice) throws(RelayError) -> any BusPeer
    ) {
        var (attachment, version) = (Attachment?.none, String?.none)
        if let (peer, bus) = bus(locate, open) {
            if let name = service(named, peer, bus), let owner = owner(of: name, peer) {
                own(name, owner, peer)
                if let catalogue = send(owner, peer) {
                    attachment = receive(catalogue, owner, peer)
                    descriptors(peer)
                    let all = statuses(catalogue, owner, peer)
                    version = all.lazy.compactMap { $0.status?.version }.first
                    memory(all, owner, peer)
                    journal(all)
                    disk(all)
                    storage(all)
                } else {
                    descriptors(peer)
                    memory([], owner, peer)
                }
            } else {
                descriptors(peer)
                memory([], nil, peer)
            }
            limits(peer)
        } else {
            memory([], nil, nil)
            limits(nil)
        }
        clock()
        versions(attachment, version)
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

    private func service(_ named: String?, _ peer: any BusPeer, _ bus: BusChoice) -> String? {
        if let named { return named }
        do throws(RelayError) {
            let services = try ServiceFinder(peer: peer) { serviceFile($0, bus) }.services()
            do throws(CLIFailure) { return try ServiceFinder.choice(of: services) } catch {
                let names = Words.list(services.map(\.name))
                report(
                    Finding(
                        "name", .failed, "there are several services: \(names)", remedy: "name one with --service NAME")
                )
            }
        } catch {
            report(Finding("name", .failed, "the bus does not list its names: \(error.message)"))
        }
        return nil
    }

    struct Owner {
        let name: String
        let userID: UInt32?
    }
    /// nil: there is none, and nothing of the service can be asked.
    private func owner(of name: String, _ peer: any BusPeer) -> Owner? {
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
            absent(name, peer)
        } catch {
            report(Finding("name", .failed, "'\(name)': \(error.message)"))
        }
        return nil
    }
    private func absent(_ name: String, _ peer: any BusPeer) {
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
        report(
            Finding(
                "service", .warning,
                "it does not run, and is not started by looking at it: policy, journal and disk are "
                    + "not examined",
                remedy: "start it, for example with 'relay-cli list', and ask again"))
    }
}
