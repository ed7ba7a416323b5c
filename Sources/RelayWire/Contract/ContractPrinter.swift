/// The one text of a contract: a line for each thing, in an order that does not depend on the declaration.
extension ContractText {
    /// The form that this version of Relay writes, and the only one that it reads.
    static let form = 1
    static let mark = "relay-contract"

    package var text: String {
        let blocks = events.map(\.lines) + documents.map(\.lines) + commands.map(\.lines)
        return (["\(Self.mark) \(Self.form)"] + lines + blocks.flatMap { [""] + $0 }).map { $0 + "\n" }.joined()
    }
    /// The interface itself, without its members.
    package var lines: [String] {
        ["interface \(name)", isDurable ? "durable" : "volatile", "requires \(requirement.contractText)"]
    }
}

extension ContractEvent {
    package var lines: [String] {
        ["event \(name)\(isFixedLayout ? " fixed" : "")"] + ContractLine.fields(fields, "field")
    }
}

extension ContractDocument {
    package var lines: [String] {
        var lines = ["document \(name)\(submission == nil ? "" : " editable")"]
        lines += ContractLine.fields(fields, "field")
        guard let submission else { return lines }
        return lines + ContractLine.requirement(submission.requirement) + submission.refusals.lines
    }
}

extension ContractCommand {
    package var lines: [String] {
        var lines = ["command \(name)"] + ContractLine.requirement(requirement)
        if isCancellable { lines.append(ContractLine.indented("cancellable")) }
        lines += ContractLine.fields(arguments, "in")
        switch key {
        case .none: break
        case .field(let name): lines.append(ContractLine.indented("key \(name)"))
        case .derived: lines.append(ContractLine.indented("key \(ContractLine.other)"))
        }
        return lines + ContractLine.fields(reply, "out") + ContractLine.fields(progress ?? [], "progress")
            + refusals.lines
    }
}

extension ContractRefusals {
    fileprivate var lines: [String] {
        (names + (isOpen ? [ContractLine.other] : [])).map { ContractLine.indented("refuses \($0)") }
    }
}

enum ContractLine {
    /// In place of a name: what a contract does not show.
    static let other = "*"
    static let indentation = 4

    static func indented(_ text: String, by levels: Int = 1) -> String {
        String(repeating: " ", count: indentation * levels) + text
    }
    fileprivate static func requirement(_ requirement: PeerRequirement?) -> [String] {
        requirement.map { [indented("requires \($0.contractText)")] } ?? []
    }
    fileprivate static func fields(_ fields: [WireField], _ keyword: String) -> [String] {
        fields.flatMap { field in
            // Between a field's names and its shape is the first colon.
            let parts = field.contractText.split(separator: ":", maxSplits: 1)
            return [indented("\(keyword) \(parts.joined(separator: " "))")] + cases(of: field, "")
        }
    }
    /// The cases of the enums in a field, however deep, by their paths.
    private static func cases(of field: WireField, _ path: String) -> [String] {
        field.cases.map { indented("case \(path)\($0.name) \($0.raw.text(QuotedText.quoted))", by: 2) }
            + field.type.innerFields.flatMap { cases(of: $0, "\(path)\($0.name).") }
    }
}
