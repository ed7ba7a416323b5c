import RelayCore
import RelayTool

/// The doctor's checks, one after the other. What a check needs, and another found missing, is not asked again.
struct Examination {
    let timeout: Duration
    let facts: SystemFacts
    let serviceFile: (_ name: String, _ bus: BusChoice) -> String?
    let programs: (any BusPeer, [String]) -> [String: String]
    var report: (Finding) -> Void = { _ in }

    /// How long signals are waited for, and how often it is looked whether some have come.
    private static let patience = Duration.milliseconds(1_500)
    private static let look = Duration.milliseconds(50)
    /// Below it a journal's disk is as good as full, and a reason to worry.
    private static let (leastFree, littleFree): (UInt64, UInt64) = (64 << 20, 1 << 30)
    /// A log that is not moved into the file.
    private static let longLog: UInt64 = 512 << 20
    /// Of an ordinary process; the service and a relay with rings need about a dozen.
    private static let fewDescriptors: UInt64 = 256

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
        var attachment: Attachment?
        if let (peer, bus) = bus(locate, open) {
            if let name = service(named, peer, bus), let owner = owner(of: name, peer) {
                own(name, owner, peer)
                if let catalogue = send(owner, peer) {
                    attachment = receive(catalogue, owner, peer)
                    descriptors(peer)
                    let all = statuses(catalogue, owner, peer)
                    memory(all, owner, peer)
                    journal(all)
                    disk(all)
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
        versions(attachment)
    }

    private func user(_ id: UInt32) -> String { id == facts.userID ? "user \(id), as you are" : "user \(id)" }

    // MARK: Bus and name

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
                    remedy: bus == .system
                        ? "start the system bus: systemctl start dbus.socket"
                        : "log in to a session, name another bus with --bus ADDRESS, or use --system"))
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

    private struct Owner {
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

    // MARK: Policy

    private func own(_ name: String, _ owner: Owner, _ peer: any BusPeer) {
        // While somebody owns it, the bus says "no" to those who may not, and "exists" to those who may.
        var body = WireWriter()
        guard (try? body.string(name)) != nil, let signature = try? Signature("su") else { return }
        let doNotQueue: UInt32 = 4
        body.uint32(doNotQueue)
        do throws(RelayError) {
            let answer = try peer.ask(.toBus("RequestName", signature, body: body.bytes), within: timeout).read("u") {
                try $0.uint32()
            }
            if answer == 1 {
                // It went away just now: nobody may take this program for it.
                if let release = MethodCall.toBus("ReleaseName", of: name) { _ = peer.ask([release], within: timeout) }
                return report(Finding("own", .warning, "the service went away meanwhile", remedy: "ask again"))
            }
            let isStranger = owner.userID.map { $0 != facts.userID && facts.userID != 0 } ?? false
            report(
                isStranger
                    ? Finding(
                        "own", .failed, "you could take the name, although the service is another user's",
                        remedy: "allow 'own' to the service's user alone, in a policy file of the bus")
                    : Finding("own", .ok, "you could own the name, as the service's user or an administrator"))
        } catch  where error.code == .notPermitted {
            report(
                owner.userID == facts.userID
                    ? Finding(
                        "own", .warning,
                        "you may not own the name, although the service is yours: it cannot be restarted",
                        remedy: "allow 'own' to this user, in a policy file of the bus")
                    : Finding("own", .ok, "the bus keeps you from taking the name"))
        } catch {
            report(Finding("own", .warning, error.message))
        }
    }

    /// What the service offers; nil: it cannot be called.
    private func send(_ owner: Owner, _ peer: any BusPeer) -> Catalogue? {
        do throws(RelayError) {
            let catalogue = try PeerWalk(peer: peer, timeout: timeout).catalogue(of: owner.name)
            let offered = catalogue.offered
            report(
                offered.isEmpty
                    ? Finding(
                        "send", .failed, "the service answers, but no object of it was built with Relay",
                        remedy: "name another service with --service NAME")
                    : Finding(
                        "send", .ok, "the service answers: \(Quantity.count(UInt64(offered.count), "interface"))"))
            return offered.isEmpty ? nil : catalogue
        } catch  where error.code == .notPermitted {
            report(
                Finding(
                    "send", .failed, "the bus does not let user \(facts.userID) call the service: \(error.message)",
                    remedy: "allow 'send_destination' to this user or to a group of theirs, in a policy file of the bus"
                ))
        } catch  where error.code == .timedOut {
            report(
                Finding(
                    "send", .failed, "the service does not answer within \(timeout)",
                    remedy: "see whether its process is stopped or busy; restart it"))
        } catch {
            report(Finding("send", .failed, error.message))
        }
        return nil
    }

    /// Subscribes for a moment. Returns what the service said first.
    private func receive(_ catalogue: Catalogue, _ owner: Owner, _ peer: any BusPeer) -> Attachment? {
        let interfaces = catalogue.offered.filter { !$0.interface.events.isEmpty }.map(\.interface.name)
        for interface in interfaces {
            // A `Head` shows as much as an event.
            for name in [interface, Stream1.name] {
                let rule = MatchRule(sender: owner.name, path: Stream1.path(of: interface), interface: name)
                guard let error = peer.listen(rule, within: timeout) else { continue }
                report(
                    Finding("receive", .failed, "the bus takes no rule for the service's signals: \(error.message)"))
                return nil
            }
        }
        var before: [(interface: String, attachment: Attachment)] = []
        defer { for one in before { _ = try? attach(one.interface, [], owner, peer) } }
        for interface in interfaces {
            do throws(RelayError) {
                before.append((interface, try attach(interface, [Stream1.allNames], owner, peer)))
            } catch  where error.code == .notPermitted {
                report(
                    Finding(
                        "receive", .failed, "user \(facts.userID) may not subscribe to \(interface): \(error.message)",
                        remedy: "join a group that the interface's requirement names, or change the requirement"))
            } catch {
                report(Finding("receive", .failed, "\(interface): \(error.message)"))
            }
        }
        guard let first = before.first else { return nil }
        let end = ContinuousClock.now + Self.patience
        while !peer.senders.contains(owner.name), ContinuousClock.now < end { facts.pause(Self.look) }
        if peer.senders.contains(owner.name) {
            report(Finding("receive", .ok, "signals of the service come"))
            return first.attachment
        }
        for one in before {
            guard let head = try? attach(one.interface, [Stream1.allNames], owner, peer).head,
                head > one.attachment.head
            else { continue }
            report(
                Finding(
                    "receive", .failed,
                    "\(one.interface) published #\(one.attachment.head + 1) to #\(head), and no signal came",
                    remedy: "allow 'receive_sender' to this user, in a policy file of the bus"))
            return first.attachment
        }
        report(
            Finding(
                "receive", .ok,
                "the service can be subscribed to; nothing was published meanwhile that would show that signals come"))
        return first.attachment
    }
    private func attach(
        _ interface: String, _ names: [String], _ owner: Owner, _ peer: any BusPeer
    ) throws(RelayError) -> Attachment {
        var body = WireWriter()
        try Stream1.write(AttachRequest(names: names), into: &body)
        let call = MethodCall(
            to: owner.name, path: Stream1.path(of: interface), interface: Stream1.name, member: "Attach",
            signature: try Signature(Stream1.attachSignature), body: body.bytes)
        return try peer.ask(call, within: timeout).read(Stream1.attachmentSignature) { try Stream1.readAttachment(&$0) }
    }

    // MARK: Descriptors and memory

    private func descriptors(_ peer: any BusPeer) {
        report(
            peer.passesDescriptors
                ? Finding("descriptors", .ok, "the bus passes file descriptors")
                : Finding(
                    "descriptors", .warning, "the bus passes no file descriptors: no rings, and slower replays",
                    remedy: "use a Unix socket of the bus; TCP passes none"))
    }

    private func memory(_ all: [(interface: String, status: ServiceStatus?)], _ owner: Owner?, _ peer: (any BusPeer)?) {
        if let error = facts.sealingFailure() {
            return report(
                Finding(
                    "memory", .failed, "this system seals no shared memory: \(error.message)",
                    remedy: "use a kernel from 5.1 on, and let this process have memfds"))
        }
        // One that nobody opened would only be made for this.
        guard let owner, let peer, let open = all.first(where: { $0.status?.ringIsOpen == true }) else {
            return report(Finding("memory", .ok, "this system seals shared memory"))
        }
        func call(_ member: String) -> MethodCall {
            MethodCall(
                to: owner.name, path: Stream1.path(of: open.interface), interface: Stream1.name, member: member)
        }
        do throws(RelayError) {
            let reply = try peer.ask(call("OpenRing"), within: timeout)
            defer { _ = peer.ask([call("CloseRing")], within: timeout) }
            guard let ring = reply.descriptors.first else {
                return report(Finding("memory", .failed, "the ring of \(open.interface) came without a descriptor"))
            }
            if let fault = facts.ringFault(ring) {
                return report(
                    Finding(
                        "memory", .failed, "the ring of \(open.interface) is not sealed: \(fault.message)",
                        remedy: "update the service"))
            }
            report(Finding("memory", .ok, "this system seals shared memory; the ring of \(open.interface) came sealed"))
        } catch {
            report(
                Finding(
                    "memory", .warning, "the ring of \(open.interface) cannot be opened: \(error.message)",
                    remedy: "subscribers get signals instead, which are slower"))
        }
    }

    // MARK: Journal

    private func statuses(
        _ catalogue: Catalogue, _ owner: Owner, _ peer: any BusPeer
    ) -> [(interface: String, status: ServiceStatus?)] {
        let names = catalogue.offered.map(\.interface.name)
        let calls = names.map { name in
            MethodCall(to: owner.name, path: Stream1.path(of: name), interface: Stream1.name, member: "Status")
        }
        return zip(names, peer.ask(calls, within: timeout)).map { name, answer in
            (name, try? answer.get().read(StatusReply.signature) { try ServiceStatus.read(&$0) })
        }
    }
    private func journal(_ all: [(interface: String, status: ServiceStatus?)]) {
        var isDurable = false
        for (interface, status) in all {
            guard let status else {
                report(
                    Finding(
                        "journal", .failed, "\(interface) does not report its status",
                        remedy: "look into the service's log: journalctl -u UNIT"))
                continue
            }
            guard let events = status.events else { continue }
            isDurable = true
            let kept = "\(interface) keeps \(Quantity.count(events, "event"))"
            if let log = status.logBytes, log > Self.longLog {
                report(
                    Finding(
                        "journal", .warning, "\(kept); its log has \(Quantity.bytes(log))",
                        remedy: "see that no program holds the journal open, and restart the service"))
            } else if status.isChecked == false {
                report(
                    Finding(
                        "journal", .warning, "\(kept); its file is not yet checked in full after a crash",
                        remedy: "wait until the service has read it, or look into its log"))
            } else {
                let file = status.fileBytes.map { " in a file of \(Quantity.bytes($0))" } ?? ""
                report(Finding("journal", .ok, "\(kept)\(file), which is sound"))
            }
        }
        if !isDurable && all.allSatisfy({ $0.status != nil }) {
            report(Finding("journal", .ok, "no interface keeps its events"))
        }
    }
    private func disk(_ all: [(interface: String, status: ServiceStatus?)]) {
        guard let free = all.compactMap(\.status?.freeBytes).min() else { return }
        let text = "\(Quantity.bytes(free)) free for the journal"
        let remedy = "make room on the journal's file system, or lower the retention"
        report(
            free < Self.leastFree
                ? Finding("disk", .failed, text, remedy: remedy)
                : free < Self.littleFree ? Finding("disk", .warning, text, remedy: remedy) : Finding("disk", .ok, text))
    }

    // MARK: The system

    private func limits(_ peer: (any BusPeer)?) {
        let limit = facts.descriptorLimit()
        var text = "\(Quantity.count(limit, "descriptor")) a process"
        if let peer, let stats = Self.stats(peer, timeout) { text += "; the bus has " + stats }
        report(
            limit < Self.fewDescriptors
                ? Finding("limits", .warning, text, remedy: "raise it: ulimit -n 1024, or LimitNOFILE= in the unit")
                : Finding("limits", .ok, text))
    }
    /// On a bus that reports them: dbus-daemon, to callers that may ask.
    private static func stats(_ peer: any BusPeer, _ timeout: Duration) -> String? {
        let call = MethodCall(
            to: "org.freedesktop.DBus", path: "/org/freedesktop/DBus", interface: "org.freedesktop.DBus.Debug.Stats",
            member: "GetStats")
        guard let reply = try? peer.ask(call, within: timeout), reply.signature == "a{sv}",
            case .dictionary(_, let entries)? = try? reply.values().first
        else { return nil }
        func number(_ name: String) -> UInt64? {
            for entry in entries where entry.key == .string(name) {
                if case .variant(.uint32(let value)) = entry.value { return UInt64(value) }
            }
            return nil
        }
        guard let connections = number("ActiveConnections"), let rules = number("MatchRules") else { return nil }
        return "\(Quantity.count(connections, "connection")) and \(Quantity.count(rules, "match rule"))"
    }

    private func clock() {
        report(
            facts.clockIsSynchronised()
                ? Finding("clock", .ok, "the system's clock is synchronised")
                : Finding(
                    "clock", .warning,
                    "nothing keeps the system's clock right: --since and ages may be off; events are kept "
                        + "at least as long as they should be",
                    remedy: "run an NTP client: timedatectl set-ntp true"))
    }

    private func versions(_ attachment: Attachment?) {
        let here = "relay-cli \(Version.current)"
        guard let attachment else { return report(Finding("versions", .ok, "\(here); the service was not asked")) }
        let (own, other) = (StreamFeature.all, attachment.details.features)
        func list(_ features: Set<StreamFeature>) -> String { Words.list(features.map { "\($0.rawValue)" }.sorted()) }
        let both = own.intersection(other)
        let known = "\(here); both sides know \(both.isEmpty ? "no features of the protocol" : list(both))"
        let lacking = own.subtracting(other)
        report(
            lacking.isEmpty
                ? Finding("versions", .ok, known)
                : Finding(
                    "versions", .warning, "\(known); the service lacks \(list(lacking))",
                    remedy: "it works as it is; build the service with a newer Relay"))
    }
}

/// Walks a running service's objects, without starting it.
struct PeerWalk {
    private static let mostObjects = 1_000

    let peer: any BusPeer
    let timeout: Duration

    /// Throws why its root does not answer; what else does not answer is left out.
    func catalogue(of name: String) throws(RelayError) -> Catalogue {
        var objects: [(path: String, node: IntrospectedNode)] = []
        var waiting = ["/"]
        while !waiting.isEmpty, objects.count < Self.mostObjects {
            let calls = waiting.map { path in
                MethodCall(
                    to: name, path: path, interface: "org.freedesktop.DBus.Introspectable", member: "Introspect")
            }
            let answers = peer.ask(calls, within: timeout)
            var next: [String] = []
            for (path, answer) in zip(waiting, answers) {
                if case .failure(let error) = answer, path == "/" { throw error }
                guard let xml = try? answer.get().read("s", { try $0.string() }),
                    let node = try? IntrospectionParser.parse(xml)
                else { continue }
                objects.append((path, node))
                next += node.children.map { (path == "/" ? "/" : path + "/") + $0 }
            }
            waiting = Array(next.prefix(Self.mostObjects))
        }
        return Catalogue(objects)
    }
}
