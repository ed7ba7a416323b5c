import RelayCore
import RelayTool

/// What the bus lets this user do: take the name, call, subscribe.
extension Examination {
    /// How long signals are waited for, and how often it is looked whether some have come.
    private static let patience = Duration.milliseconds(1_500)
    private static let look = Duration.milliseconds(50)

    func own(_ name: String, _ owner: Owner, _ peer: any BusPeer) {
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
    func send(_ owner: Owner, _ peer: any BusPeer) -> Catalogue? {
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
}
