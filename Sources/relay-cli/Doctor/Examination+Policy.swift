import RelayCore
import RelayTool
import RelayWire

/// What the bus lets this user do: take the name, call, subscribe.
extension Examination {
    /// How long signals are waited for, and how often it is looked whether some have come.
    private static let patience = Duration.milliseconds(1_500)
    private static let look = Duration.milliseconds(50)

    /// By the rules, and not by trying: if the service left meanwhile, this program would have its name.
    func own(_ name: String, _ owner: Owner) {
        let account = access.account
        guard let policy = access.policy else {
            return report(
                Finding(
                    "own", .warning, "not examined who may take the name: the policy of this bus is not known here",
                    remedy: "run it as root, or as the user of the bus, who can read its policy files"
                ))
        }
        let isOwners = owner.userID == account.userID
        guard policy.allowsOwning(name, account) else {
            let titles = policy.owners(of: name).map(\.title)
            let others = titles.isEmpty ? "" : ", and lets \(Words.list(titles)) take it"
            return report(
                isOwners
                    ? Finding(
                        "own", .warning,
                        "you may not own the name, although the service is yours: it cannot be restarted",
                        remedy: "allow 'own' to this user, in a policy file of the bus")
                    : Finding("own", .ok, "the bus keeps you from taking the name\(others)"))
        }
        let isStranger = owner.userID != nil && !isOwners && account.userID != 0
        report(
            isStranger
                ? Finding(
                    "own", .failed, "you could take the name, although the service is another user's",
                    remedy: "allow 'own' to the service's user alone, in a policy file of the bus")
                : Finding("own", .ok, "you could own the name, as the service's user or an administrator"))
    }

    /// What the service offers; nil: it cannot be called.
    func send(_ name: String, _ owner: Owner, _ peer: any BusPeer) -> Catalogue? {
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
            refused(name, access.remedy(forCalling: name) == nil ? ": \(error.message)" : "")
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
    func receive(_ catalogue: Catalogue, _ owner: Owner, _ peer: any BusPeer) -> Attachment? {
        let interfaces = catalogue.offered.filter { !$0.interface.events.isEmpty }.map(\.interface.name)
        for interface in interfaces {
            // Heads tell as much as events.
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
                        "receive", .failed,
                        "\(access.account.title) may not subscribe to \(interface): \(error.message)",
                        remedy: access.remedyForRequirement
                            ?? "meet the interface's requirement, or change it in the service"))
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
}

extension BusPolicy.Context {
    fileprivate var title: String {
        switch self {
        case .everyone, .mandatory: "everyone"
        case .group(let name): "group '\(name)'"
        case .user(let name): "user '\(name)'"
        }
    }
}
