import RelayCore
import RelayTool

/// What the service needs of the bus and the system, and how its journal is.
extension Examination {
    /// Below it a journal's disk is as good as full, and a reason to worry.
    private static let (leastFree, littleFree): (UInt64, UInt64) = (64 << 20, 1 << 30)
    /// A log that is not moved into the file.
    private static let longLog: UInt64 = 512 << 20

    func descriptors(_ peer: any BusPeer) {
        report(
            peer.passesDescriptors
                ? Finding("descriptors", .ok, "the bus passes file descriptors")
                : Finding(
                    "descriptors", .warning, "the bus passes no file descriptors: no rings, and slower replays",
                    remedy: "use a Unix socket of the bus; TCP passes none"))
    }

    func memory() {
        if let error = facts.sealingFailure() {
            return report(
                Finding(
                    "memory", .failed, "this system seals no shared memory: \(error.message)",
                    remedy: "use a kernel from 5.1 on, and let this process have memfds"))
        }
        report(Finding("memory", .ok, "this system seals shared memory"))
    }

    func ring(_ all: [(interface: String, status: ServiceStatus?)], _ owner: Owner, _ peer: any BusPeer) {
        if let full = all.max(by: { $0.status?.ringLacking ?? 0 < $1.status?.ringLacking ?? 0 }),
            let lacking = full.status?.ringLacking, lacking > 0
        {
            // This program would be refused, too.
            let peers = Quantity.count(lacking, "peer") + (lacking == 1 ? " has" : " have")
            return report(
                Finding(
                    "ring", .warning, "\(peers) no place at the ring of \(full.interface), and get signals",
                    remedy: "signals are slower, and lose more; follow with fewer relays: one for each process"))
        }
        // One that nobody opened would only be made for this.
        guard let open = all.first(where: { $0.status?.ringIsOpen == true }) else { return }
        func call(_ member: String) -> MethodCall {
            MethodCall(
                to: owner.name, path: Stream1.path(of: open.interface), interface: Stream1.name, member: member)
        }
        do throws(RelayError) {
            let reply = try peer.ask(call("OpenRing"), within: timeout)
            defer { _ = peer.ask([call("CloseRing")], within: timeout) }
            guard let ring = reply.descriptors.first else {
                return report(Finding("ring", .failed, "the ring of \(open.interface) came without a descriptor"))
            }
            if let fault = facts.ringFault(ring) {
                return report(
                    Finding(
                        "ring", .failed, "the ring of \(open.interface) is not sealed: \(fault.message)",
                        remedy: "update the service"))
            }
            report(Finding("ring", .ok, "the ring of \(open.interface) came sealed"))
        } catch {
            report(
                Finding(
                    "ring", .warning, "the ring of \(open.interface) cannot be opened: \(error.message)",
                    remedy: "subscribers get signals instead, which are slower"))
        }
    }

    func statuses(
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
    func journal(_ all: [(interface: String, status: ServiceStatus?)]) {
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
            if let log = status.walBytes, log > Self.longLog {
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
                let file = kept + (status.fileBytes.map { " in a file of \(Quantity.bytes($0))" } ?? "")
                report(
                    status.isChecked == true
                        ? Finding("journal", .ok, "\(file), which is sound")
                        : Finding(
                            "journal", .warning, "\(file); the service does not report whether it is sound",
                            remedy: "build the service with a newer Relay, or check a backup of the journal"))
            }
        }
        if !isDurable && all.allSatisfy({ $0.status != nil }) {
            report(Finding("journal", .ok, "no interface keeps its events"))
        }
    }
    func disk(_ all: [(interface: String, status: ServiceStatus?)]) {
        guard let free = all.compactMap(\.status?.freeBytes).min() else { return }
        let text = "\(Quantity.bytes(free)) free for the journal"
        let remedy = "make room on the journal's file system, or lower the retention"
        report(
            free < Self.leastFree
                ? Finding("disk", .failed, text, remedy: remedy)
                : free < Self.littleFree ? Finding("disk", .warning, text, remedy: remedy) : Finding("disk", .ok, text))
    }
}
