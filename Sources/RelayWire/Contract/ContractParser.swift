/// Reads the text of a contract, which may be anything.
extension ContractText {
    /// No message can carry a longer one.
    package static let longest = 1 << 20

    /// Reads the text of a contract, such as a contract file.
    ///
    /// - Parameter text: the text.
    /// - Throws: `.invalidArgument` with the line and the reason.
    public init(parsing text: String) throws(RelayError) {
        var parser = ContractParser(text)
        self = try parser.contract()
    }
    /// Several texts, one behind the other, as a tool prints what a service has. Throws as `init`.
    package static func all(parsing text: String) throws(RelayError) -> [ContractText] {
        let lines = text.utf8.split(separator: 10, omittingEmptySubsequences: false).map { Substring($0) }
        // What comes before the first is part of it.
        let starts = [0] + lines.indices.filter { lines[$0].hasPrefix(mark + " ") }.dropFirst() + [lines.count]
        var all: [ContractText] = []
        for (start, end) in zip(starts, starts.dropFirst()) {
            var parser = ContractParser(lines[start..<end].joined(separator: "\n"), behind: start)
            all.append(try parser.contract())
        }
        return all
    }
}

struct ContractParser {

    /// A line that is neither empty nor a comment.
    private struct Line {
        let number: Int
        /// How deep it is indented.
        let level: Int
        let keyword: Substring
        let rest: Substring
    }
    private let size: Int
    private var lines: ArraySlice<Line> = []
    /// Of the line that was taken last.
    private var number = 0
    /// What kept the lines from being read.
    private var fault: RelayError?

    /// - Parameter behind: how many lines there are before it.
    init(_ text: String, behind: Int = 0) {
        size = text.utf8.count
        if size > ContractText.longest { return }
        do throws(RelayError) {
            var all: [Line] = []
            for (index, line) in text.utf8.split(separator: 10, omittingEmptySubsequences: false).enumerated() {
                number = behind + index + 1
                if let line = try self.line(Substring(line)) { all.append(line) }
            }
            lines = all[...]
        } catch { fault = error }
        number = 0
    }
    private func line(_ text: Substring) throws(RelayError) -> Line? {
        // A file of another system ends its lines with a carriage return, too.
        let text = text.unicodeScalars.last == "\r" ? Substring(text.unicodeScalars.dropLast()) : text
        let content = text.drop { $0 == " " }
        if content.isEmpty || content.first == "#" { return nil }
        let spaces = text.count - content.count
        if !spaces.isMultiple(of: ContractLine.indentation) {
            throw refusal("it is indented by \(spaces) spaces, and not by a multiple of \(ContractLine.indentation)")
        }
        let keyword = content.prefix { $0 != " " }
        return Line(
            number: number, level: spaces / ContractLine.indentation, keyword: keyword,
            rest: content.dropFirst(keyword.count + 1))
    }
    private func refusal(_ reason: String) -> RelayError {
        RelayError(.invalidArgument, number == 0 ? "this is no contract: \(reason)" : "line \(number): \(reason)")
    }

    // MARK: Lines

    /// Takes the next line if it is of this depth.
    private mutating func take(_ level: Int) throws(RelayError) -> Line? {
        guard let line = lines.first, line.level >= level else { return nil }
        number = line.number
        if line.level > level { throw refusal("\(BusNames.quoted(String(line.keyword))) is indented too far") }
        lines.removeFirst()
        return line
    }
    private mutating func expect(_ what: String, _ keywords: String...) throws(RelayError) -> Line {
        guard let line = try take(0), keywords.contains(String(line.keyword)) else {
            throw refusal("\(what) is missing")
        }
        return line
    }
    private func unknown(_ line: Line, in place: String) -> RelayError {
        refusal("\(BusNames.quoted(String(line.keyword))) is nothing that \(place) has")
    }
    private func name(_ text: Substring) throws(RelayError) -> String {
        let name = String(text)
        if !BusNames.isMember(name) { throw refusal("\(BusNames.quoted(name)) is no name: \(BusNameKind.member.rule)") }
        return name
    }
    private func end(_ line: Line) throws(RelayError) {
        if !line.rest.isEmpty { throw refusal("\(BusNames.quoted(String(line.rest))) follows '\(line.keyword)'") }
    }
    private func requirement(_ line: Line) throws(RelayError) -> PeerRequirement {
        if let requirement = RequirementText.requirement(line.rest) { return requirement }
        throw refusal("\(BusNames.quoted(String(line.rest))) is no requirement")
    }

    // MARK: The contract

    mutating func contract() throws(RelayError) -> ContractText {
        if size > ContractText.longest {
            throw refusal("it has \(size) bytes, a contract has at most \(ContractText.longest)")
        }
        if let fault { throw fault }
        let form = try expect("'\(ContractText.mark) \(ContractText.form)'", ContractText.mark)
        if form.rest != "\(ContractText.form)" {
            throw refusal(
                "the form \(BusNames.quoted(String(form.rest))) is none that this version of Relay reads; it reads "
                    + "\(ContractText.form)")
        }
        let interface = String(try expect("'interface' and its name", "interface").rest)
        if !BusNames.isInterface(interface) {
            throw refusal("\(BusNames.quoted(interface)) is no interface name: \(BusNameKind.interface.rule)")
        }
        let durability = try expect("'durable' or 'volatile'", "durable", "volatile")
        try end(durability)
        let required = try expect("'requires'", "requires")
        let requirement = try requirement(required)
        var (events, documents, commands): ([ContractEvent], [ContractDocument], [ContractCommand]) = ([], [], [])
        var names: Set<String> = []
        while let line = try take(0) {
            // What stands behind a name.
            let words = line.rest.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: false)
            let (name, mark) = (try name(words.first ?? ""), words.count > 1 ? String(words[1]) : nil)
            if !names.insert(name).inserted { throw refusal("there are two members named '\(name)'") }
            switch (line.keyword, mark) {
            case ("event", nil), ("event", "fixed"): events.append(try event(name, isFixedLayout: mark != nil))
            case ("document", nil), ("document", "editable"):
                documents.append(try document(name, isEditable: mark != nil))
            case ("command", nil): commands.append(try command(name))
            case ("event", let mark?), ("document", let mark?), ("command", let mark?):
                throw refusal("\(BusNames.quoted(mark)) is nothing that an event, a document or a command can be")
            default: throw unknown(line, in: "a contract")
            }
        }
        if let line = lines.first {
            number = line.number
            throw refusal("this line belongs to nothing")
        }
        return ContractText(
            name: interface, isDurable: durability.keyword == "durable", requirement: requirement, events: events,
            documents: documents, commands: commands)
    }
    private mutating func event(_ name: String, isFixedLayout: Bool) throws(RelayError) -> ContractEvent {
        var fields: [WireField] = []
        while let line = try take(1) {
            guard line.keyword == "field" else { throw unknown(line, in: "an event") }
            fields.append(try field(line))
        }
        return ContractEvent(name: name, fields: try checked(fields, name), isFixedLayout: isFixedLayout)
    }
    private mutating func document(_ name: String, isEditable: Bool) throws(RelayError) -> ContractDocument {
        var (fields, required): ([WireField], PeerRequirement?) = ([], nil)
        var refused = Refused()
        while let line = try take(1) {
            switch line.keyword {
            case "field": fields.append(try field(line))
            case "requires" where isEditable: required = try requirement(line)
            case "refuses" where isEditable: try refuse(line, &refused)
            default: throw unknown(line, in: isEditable ? "a document" : "a document that is not editable")
            }
        }
        return ContractDocument(
            name: name, fields: try checked(fields, name),
            submission: isEditable
                ? ContractSubmission(requirement: required, refusals: refused.refusals) : nil)
    }
    private mutating func command(_ name: String) throws(RelayError) -> ContractCommand {
        var (inputs, outputs, progress): ([WireField], [WireField], [WireField]) = ([], [], [])
        var (required, isCancellable, key): (PeerRequirement?, Bool, ContractCommand.Key) = (nil, false, .none)
        var refused = Refused()
        while let line = try take(1) {
            switch line.keyword {
            case "requires": required = try requirement(line)
            case "cancellable":
                try end(line)
                isCancellable = true
            case "in": inputs.append(try field(line))
            case "out": outputs.append(try field(line))
            case "progress": progress.append(try field(line))
            case "key" where line.rest == ContractLine.other: key = .derived
            case "key":
                let field = String(line.rest)
                if !inputs.contains(where: { $0.name == field }) {
                    throw refusal("the key \(BusNames.quoted(field)) is no argument above")
                }
                key = .field(field)
            case "refuses": try refuse(line, &refused)
            default: throw unknown(line, in: "a command")
            }
        }
        return ContractCommand(
            name: name, arguments: try checked(inputs, name), reply: try checked(outputs, name),
            progress: progress.isEmpty ? nil : try checked(progress, name), requirement: required,
            isCancellable: isCancellable, key: key, refusals: refused.refusals)
    }

    // MARK: What members have

    private struct Refused {
        var names: Set<String> = []
        var isOpen = false
        var refusals: ContractRefusals { ContractRefusals(Array(names), isOpen: isOpen) }
    }
    private func refuse(_ line: Line, _ refused: inout Refused) throws(RelayError) {
        if line.rest == ContractLine.other {
            refused.isOpen = true
        } else if !refused.names.insert(try name(line.rest)).inserted {
            throw refusal("the refusal '\(line.rest)' is there twice")
        }
    }
    /// A field, and the lines of its cases.
    private mutating func field(_ line: Line) throws(RelayError) -> WireField {
        let parts = line.rest.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: false)
        if parts.count != 2 { throw refusal("a field has a name and a shape, as in '\(line.keyword) orderID x'") }
        var field: WireField
        do throws(RelayError) { field = try WireField(parsing: "\(parts[0]):\(parts[1])") } catch {
            throw refusal(error.message)
        }
        while let line = try take(2) {
            guard line.keyword == "case" else { throw unknown(line, in: "a field") }
            field = try adding(line, to: field)
        }
        return field
    }
    private func adding(_ line: Line, to field: WireField) throws(RelayError) -> WireField {
        let words = line.rest.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: false)
        let path = words.first?.split(separator: ".", omittingEmptySubsequences: false) ?? []
        guard words.count == 2, let last = path.last, let raw = Self.raw(words[1]) else {
            throw refusal("a case has a name and a raw value, a number or a text between quotation marks")
        }
        let value = WireCase(try name(last), raw)
        guard let field = try field.adding(value, at: path.dropLast().map(String.init)[...]) else {
            throw refusal(
                "there is nothing at \(BusNames.quoted(path.joined(separator: "."))), or it has this case already")
        }
        return field
    }
    private static func raw(_ text: Substring) -> WireCase.Raw? {
        if let (quoted, rest) = QuotedText.scan(text) { return rest.isEmpty ? .text(quoted) : nil }
        if text.hasPrefix("+") { return nil }
        return Int64(text).map { .signed($0) } ?? UInt64(text).map { .unsigned($0) }
    }
    private func checked(_ fields: [WireField], _ member: String) throws(RelayError) -> [WireField] {
        do throws(RelayError) { return try WireSchema(fields: fields).fields } catch {
            throw refusal("the fields of '\(member)' above: \(error.message)")
        }
    }
}

extension WireField {
    /// The same with a case more of the enum at a path; nil if there is nothing, or that case.
    fileprivate func adding(_ value: WireCase, at path: ArraySlice<String>) throws(RelayError) -> WireField? {
        var (type, cases) = (type, cases)
        if path.isEmpty {
            if cases.contains(where: { $0.name == value.name || $0.raw == value.raw }) { return nil }
            if cases.count == WireCase.most { return nil }
            cases.append(value)
        } else {
            guard let changed = try type.adding(value, at: path) else { return nil }
            type = changed
        }
        return WireField(
            name: name, type: type, formerNames: formerNames, swiftType: swiftType, cases: cases, hasSets: hasSets)
    }
}

extension WireType {
    fileprivate func adding(_ value: WireCase, at path: ArraySlice<String>) throws(RelayError) -> WireType? {
        switch self {
        case .array(let inner): return try inner.adding(value, at: path).map { .array($0) }
        case .optional(let inner): return try inner.adding(value, at: path).map { .optional($0) }
        case .dictionary(let key, let inner): return try inner.adding(value, at: path).map { .dictionary(key, $0) }
        case .structure(var fields):
            guard let index = fields.firstIndex(where: { $0.name == path.first }),
                let field = try fields[index].adding(value, at: path.dropFirst())
            else { return nil }
            fields[index] = field
            return .structure(fields)
        case .tagged(var variants):
            guard let place = variants.firstIndex(where: { $0.name == path.first }),
                case .structure(let fields)? = try WireType.structure(variants[place].fields).adding(
                    value, at: path.dropFirst())
            else { return nil }
            let variant = variants[place]
            variants[place] = WireVariant(name: variant.name, fields: fields, isOpen: variant.isOpen)
            return .tagged(variants)
        default: return nil
        }
    }
}
