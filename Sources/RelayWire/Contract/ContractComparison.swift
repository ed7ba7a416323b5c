/// Compares two versions of one contract. What can be read is what ``WireTranslation`` can translate.
extension ContractText {
    /// The differences from this version to a later one, by member. Throws `.invalidArgument` for another interface.
    package func changes(to new: ContractText) throws(RelayError) -> [ContractChange] {
        if name != new.name {
            throw RelayError(
                .invalidArgument,
                "\(name) and \(new.name) are two interfaces: compare two versions of one, for another name serves other programs"
            )
        }
        return ContractComparison(old: self, new: new).changes
    }
}

package struct ContractComparison {
    typealias Effect = ContractChange.Effect
    let old: ContractText
    let new: ContractText

    var changes: [ContractChange] {
        let (former, present) = (Self.members(old), Self.members(new))
        let names = Set(former.keys).union(present.keys).sorted()
        return [interface].compactMap { $0 } + names.flatMap { changes(former[$0], present[$0]) }
    }

    // MARK: Members

    private enum Member {
        case event(ContractEvent)
        case document(ContractDocument)
        case command(ContractCommand)

        var name: String {
            switch self {
            case .event(let event): event.name
            case .document(let document): document.name
            case .command(let command): command.name
            }
        }
        var kind: String {
            switch self {
            case .event: "event"
            case .document: "document"
            case .command: "command"
            }
        }
        var lines: [String] {
            switch self {
            case .event(let event): event.lines
            case .document(let document): document.lines
            case .command(let command): command.lines
            }
        }
    }
    private static func members(_ text: ContractText) -> [String: Member] {
        let all =
            text.events.map(Member.event) + text.documents.map(Member.document) + text.commands.map(Member.command)
        return Dictionary(all.map { ($0.name, $0) }) { first, _ in first }
    }
    private var interface: ContractChange? {
        if old.lines == new.lines { return nil }
        var effects = Self.requirement(old.requirement, new.requirement)
        if old.isDurable && !new.isDurable {
            effects += [
                Effect(.oldFrontEnds, "what they miss is lost, and their cursors lead nowhere: stay durable"),
                Effect(.journal, "its events are read no more: stay durable"),
            ]
        }
        return ContractChange(
            .changed, "interface", new.name, lines: Self.difference(old.lines, new.lines), effects: effects)
    }
    private func changes(_ former: Member?, _ present: Member?) -> [ContractChange] {
        switch (former, present) {
        case (nil, nil): return []
        case (nil, let added?):
            return [
                ContractChange(.added, added.kind, added.name, lines: Self.difference([], added.lines), effects: [])
            ]
        case (let removed?, nil):
            let effect = Effect(.oldFrontEnds, Self.loss(of: removed))
            return [
                ContractChange(
                    .removed, removed.kind, removed.name, lines: Self.difference(removed.lines, []),
                    effects: [effect])
            ]
        case (let former?, let present?):
            // A document's text can be the same where the command that submits it is not: by the interface's requirement.
            if former.lines == present.lines { return [] }
            guard let effects = effects(former, present) else {
                return changes(former, nil) + changes(nil, present)
            }
            return [
                ContractChange(
                    .changed, present.kind, present.name, lines: Self.difference(former.lines, present.lines),
                    effects: effects)
            ]
        }
    }
    private static func loss(of member: Member) -> String {
        switch member {
        case .event(let event): "\(event.name) never comes again: publish it as long as they wait for it"
        case .document(let document): "\(document.name) cannot be followed: keep it as long as they follow it"
        case .command(let command): "calls of \(command.name) are refused: keep it as long as they call it"
        }
    }
    /// nil: they have nothing in common.
    private func effects(_ former: Member, _ present: Member) -> [Effect]? {
        switch (former, present) {
        case (.event(let a), .event(let b)): return event(a.fields, b.fields, b.name)
        case (.document(let a), .document(let b)): return document(a, b)
        case (.command(let a), .command(let b)): return command(a, b)
        // On the wire, a document's entry is an event.
        case (.event(let a), .document(let b)): return event(a.fields, b.fields, b.name)
        case (.document(let a), .event(let b)):
            return event(a.fields, b.fields, b.name) + [Effect(.oldFrontEnds, Self.loss(of: former))]
        default: return nil
        }
    }

    // MARK: Events and documents

    /// - Parameter kept: the fields of earlier versions that a journal has events of.
    func event(_ a: [WireField], _ b: [WireField], _ name: String, kept: [[WireField]] = []) -> [Effect] {
        var effects = ContractReading(a, b, of: name).newToOld(
            .reading, .oldFrontEnds, by: "each \(name) is a gap", case: "a \(name) with it is a gap")
        let journal: [ContractChange.Party] = new.isDurable && old.isDurable ? [.journal] : []
        for (party, fields) in [(.newFrontEnds, a)] + journal.flatMap({ party in ([a] + kept).map { (party, $0) } }) {
            effects += ContractReading(fields, b, of: name).oldToNew(
                .reading, party, by: "each \(name) is a gap", case: "a \(name) with it is a gap")
        }
        for party in journal { effects += ContractReading(a, b, of: name).formerNames(party) }
        return effects
    }
    private func document(_ a: ContractDocument, _ b: ContractDocument) -> [Effect] {
        let reading = ContractReading(a.fields, b.fields, of: b.name)
        var effects = reading.newToOld(
            .reading, .oldFrontEnds, by: "\(b.name) cannot be read", case: "a state with it cannot be read")
        effects += reading.oldToNew(
            .reading, .newFrontEnds, by: "\(b.name) cannot be read", case: "a state with it cannot be read")
        if new.isDurable && old.isDurable {
            effects += reading.oldToNew(
                .reading, .journal, by: "the service does not start on the last state",
                case: "the service does not start on a state with it")
            effects += reading.formerNames(.journal)
        }
        guard let former = a.submission else { return effects }
        guard let present = b.submission else {
            let text = "submissions of \(b.name) are refused: keep it editable as long as they submit it"
            return effects + [Effect(.oldFrontEnds, text)]
        }
        // Top-level fields that a front end does not know are carried along with the state that it changes.
        effects += reading.submitted
        effects += requirement(former.requirement, present.requirement)
        return effects + refusals(former.refusals, present.refusals)
    }

    // MARK: Commands

    private func command(_ a: ContractCommand, _ b: ContractCommand) -> [Effect] {
        let refused = "calls of \(b.name) are refused"
        let arguments = ContractReading(a.arguments, b.arguments, of: b.name)
        var effects = arguments.oldToNew(.asking, .oldFrontEnds, by: refused, case: "a call with it is refused")
        effects += arguments.newToOld(.asking, .newFrontEnds, by: refused, case: "a call with it is refused")
        effects += arguments.formerNames(.oldFrontEnds)
        for (former, present, what) in [
            (a.reply, b.reply, "the reply of \(b.name)"),
            (a.progress ?? [], b.progress ?? [], "the progress of \(b.name)"),
        ] {
            // Who reports nothing, or hears nothing, misses nothing.
            if what.hasPrefix("the progress") && (former.isEmpty || present.isEmpty) { continue }
            let reading = ContractReading(former, present, of: what)
            let late = "the command has run when its reply cannot be read"
            effects += reading.newToOld(.reading, .oldFrontEnds, by: refused, case: late)
            effects += reading.oldToNew(.reading, .newFrontEnds, by: refused, case: late)
        }
        effects += requirement(a.requirement, b.requirement)
        if a.isCancellable && !b.isCancellable {
            effects.append(
                Effect(.oldFrontEnds, breaks: false, "\(b.name) runs to its end when its caller gives up"))
        }
        if a.key != .none && a.key != b.key {
            let text = "a retry of \(b.name) is no longer recognised, and runs again: keep its idempotency key"
            effects.append(Effect(.oldFrontEnds, text))
        }
        if a.key != .none && b.key != .none {
            effects += ContractReading(a.reply, b.reply, of: "the kept reply of \(b.name)").oldToNew(
                .reading, .journal, by: "a retry finds a reply that cannot be read",
                case: "a kept reply with it cannot be read")
        }
        return effects + refusals(a.refusals, b.refusals)
    }

    // MARK: What they have in common

    private func requirement(_ a: PeerRequirement?, _ b: PeerRequirement?) -> [Effect] {
        // The interface's own is compared once, for all.
        a == nil && b == nil ? [] : Self.requirement(a ?? old.requirement, b ?? new.requirement)
    }
    private static func requirement(_ a: PeerRequirement, _ b: PeerRequirement) -> [Effect] {
        if b.admits(all: a) { return [] }
        let text = "who meets only '\(a.contractText)' is refused: admit them as long as they call"
        return [Effect(.oldFrontEnds, text)]
    }
    private func refusals(_ a: ContractRefusals, _ b: ContractRefusals) -> [Effect] {
        undeclared(.oldFrontEnds, declared: a, thrown: b) + undeclared(.newFrontEnds, declared: b, thrown: a)
    }
    /// What programs with the one list get of services with the other.
    private func undeclared(
        _ party: ContractChange.Party, declared: ContractRefusals, thrown: ContractRefusals
    ) -> [Effect] {
        let others = declared.isOpen ? [] : thrown.names.filter { !declared.names.contains($0) }
        if others.isEmpty && (declared.isOpen || !thrown.isOpen) { return [] }
        let names = others.isEmpty ? "refusals" : others.joined(separator: ", ")
        return [
            Effect(party, breaks: false, "\(names): an error that they do not declare, with the service's text")
        ]
    }
    /// The lines that one of two has alone.
    static func difference(_ old: [String], _ new: [String]) -> [String] {
        // Removals first where both are at one place.
        let changes = new.difference(from: old)
        var (removed, added): ([Int: String], [Int: String]) = ([:], [:])
        for change in changes {
            switch change {
            case .remove(let offset, let line, _): removed[offset] = line
            case .insert(let offset, let line, _): added[offset] = line
            }
        }
        var (lines, i, j): ([String], Int, Int) = ([], 0, 0)
        while i < old.count || j < new.count {
            if let line = removed[i] {
                lines.append("- " + line.drop { $0 == " " })
                i += 1
            } else if let line = added[j] {
                lines.append("+ " + line.drop { $0 == " " })
                j += 1
            } else {
                (i, j) = (i + 1, j + 1)
            }
        }
        return lines
    }
}

// MARK: A journal

/// An event as a journal has it: its fields, in the versions that wrote them.
package struct StoredEvent: Sendable {
    /// As the last version wrote it.
    package let present: [WireField]
    /// Those of which there are still events.
    package let kept: [[WireField]]

    package init(present: [WireField], kept: [[WireField]]) { (self.present, self.kept) = (present, kept) }
}

extension ContractText {
    /// The differences from what a journal has of this interface, by member. A journal knows names and shapes alone.
    package func changes(fromStored stored: [String: StoredEvent]) -> [ContractChange] {
        let comparison = ContractComparison(old: self, new: self)
        let members =
            events.map { ("event", $0.name, $0.fields, $0.lines) }
            + documents.map { ("document", $0.name, $0.fields, $0.lines) }
        let names = Set(members.map { $0.1 })
        var changes = members.compactMap { what, name, fields, lines -> ContractChange? in
            guard let known = stored[name] else {
                return ContractChange(.added, what, name, lines: ContractComparison.difference([], lines), effects: [])
            }
            let effects = comparison.event(known.present, fields, name, kept: known.kept)
            if known.present == fields && effects.isEmpty { return nil }
            return ContractChange(
                .changed, what, name,
                lines: ContractComparison.difference(
                    known.present.map { "field \($0)" }, fields.map { "field \($0)" }), effects: effects)
        }
        for (name, event) in stored where !names.contains(name) {
            let removed = ContractEvent(name: name, fields: event.present)
            changes.append(comparison.removal(of: removed))
        }
        return changes.sorted { $0.member < $1.member }
    }
}

extension ContractComparison {
    fileprivate func removal(of event: ContractEvent) -> ContractChange {
        ContractChange(
            .removed, "event", event.name, lines: Self.difference(event.lines, []),
            effects: [Effect(.oldFrontEnds, Self.loss(of: .event(event)))])
    }
}
