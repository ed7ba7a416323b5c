import RelayCore
import RelayTool
import RelayWire

/// `contract`: what changes between two versions of a contract, and what that breaks.
struct CompareContracts: Verb {
    var old: String
    /// nil: that of the running service.
    var new: String?

    static let declaration = CommandDeclaration(
        "contract",
        summary: "what a change of a contract breaks, and for whom",
        operands: [oldFile, newFile],
        details: [
            """
            Compares two files that 'list --contract' or a test has written, or a file and what the running service has.
            Prints each event, command and document that differs: the lines of the text, whom the change breaks, and
            what to do instead.
            """,
            """
            Old front ends are those of OLD with a service of NEW; new front ends are those of NEW with a service of
            OLD; the journal is what services of OLD have written.
            """,
        ],
        examples: [
            Example("contract", "old.contract", "new.contract", summary: "two files"),
            Example(
                "contract", "Contracts/org.example.Shop1.contract", "--service", "org.example.Shop",
                summary: "a file, and what runs"),
        ],
        exitCodes: Program.exitCodes(
            ExitMeaning(.refused, "something breaks"),
            ExitMeaning(.usage, "wrong usage, or no such file"),
            ExitMeaning(.badValue, "a file that is no contract, or of another interface")))

    private static let oldFile = Operand(ValueKind<String>.file("OLD"), "a file with the old version")
    private static let newFile = Operand(
        optional: ValueKind<String>.file("NEW"), "a file with the new version; else the running service has it")

    var asksService: Bool { new == nil }

    func run(in context: VerbContext) throws(CLIFailure) {
        let released = try Self.contracts(in: old)
        let present: [ContractText]
        if let new {
            present = try Self.contracts(in: new)
        } else {
            let (caller, options) = (try context.caller(), context.options)
            present = try Waiting.result {
                try await ServiceContracts(caller: caller, service: options.service, timeout: options.timeout).all()
            }
        }
        let changes = try changes(from: released, to: present)
        try context.tool.write(Self.output(changes, context.style))
        if changes.contains(where: \.breaks) {
            throw CLIFailure(.refused, "the new version breaks what works with the old one", kind: "breaks")
        }
    }

    /// The differences, interface by interface.
    func changes(from old: [ContractText], to new: [ContractText]) throws(CLIFailure) -> [ContractChange] {
        var changes: [ContractChange] = []
        var isComparable = false
        for released in old {
            if let present = new.first(where: { $0.name == released.name }) {
                isComparable = true
                do throws(RelayError) { changes += try released.changes(to: present) } catch {
                    throw CLIFailure(.badValue, error.message)
                }
            } else if self.new != nil || old.count > 1 {
                changes.append(.removal(of: released))
            }
        }
        if !isComparable {
            let (theirs, ours) = (old.map(\.name), new.map(\.name))
            throw CLIFailure(
                .badValue,
                "'\(self.old)' has \(Words.list(theirs)), and \(self.new.map { "'\($0)'" } ?? "the service") has "
                    + "\(ours.isEmpty ? "none" : Words.list(ours)): name two versions of one interface")
        }
        return changes
    }

    static func contracts(in path: String) throws(CLIFailure) -> [ContractText] {
        let text: String?
        do throws(RelayError) { text = try SmallTextFile.read(path, atMost: 8 << 20) } catch {
            throw CLIFailure(error.code == .tooLarge ? .badValue : .usage, error.message)
        }
        guard let text else { throw CLIFailure(.usage, "there is no file '\(path)'") }
        do throws(RelayError) { return try ContractText.all(parsing: text) } catch {
            throw CLIFailure(.badValue, "'\(path)', \(error.message)")
        }
    }

    // MARK: Output

    static func output(_ changes: [ContractChange], _ style: OutputStyle) -> [UInt8] {
        var output = ByteBuffer()
        if changes.isEmpty && !style.json { output.append("no changes\n") }
        for (index, change) in changes.enumerated() {
            if style.json {
                object(change, to: &output)
            } else {
                if index > 0 { output.append("\n") }
                for line in "\(change)".split(separator: "\n", omittingEmptySubsequences: false) {
                    output.append(PageText.safe(String(line)))
                    output.append("\n")
                }
            }
        }
        return output.bytes
    }
    private static func object(_ change: ContractChange, to output: inout ByteBuffer) {
        output.append("{\"kind\":")
        SafeText.append(quoted: change.kind.rawValue, to: &output)
        output.append(",\"member\":")
        SafeText.append(quoted: change.member, to: &output)
        output.append(",\"breaks\":\(change.breaks),\"lines\":[")
        for (index, line) in change.lines.enumerated() {
            if index > 0 { output.append(",") }
            SafeText.append(quoted: line, to: &output)
        }
        output.append("],\"effects\":[")
        for (index, effect) in change.effects.enumerated() {
            if index > 0 { output.append(",") }
            output.append("{\"party\":")
            SafeText.append(quoted: effect.party.rawValue, to: &output)
            output.append(",\"breaks\":\(effect.breaks),\"message\":")
            SafeText.append(quoted: effect.message, to: &output)
            output.append("}")
        }
        output.append("]}\n")
    }
}

extension CompareContracts {
    init(_ line: ParsedLine, at time: LocalTime) {
        old = line[Self.oldFile]
        new = line[Self.newFile]
    }
}

extension ValueKind where Value == String {
    /// A file's path.
    fileprivate static func file(_ name: String) -> Self {
        ValueKind(name) { text throws(Unfit) in
            if text.isEmpty { throw Unfit("is no file") }
            return text
        }
    }
}
