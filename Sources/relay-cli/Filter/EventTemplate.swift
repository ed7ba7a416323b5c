import RelayCore
import RelayTool
import RelayWire

/// What `--format` makes of an event: text, with fields in braces.
struct EventTemplate: Equatable, Sendable {
    private enum Part: Equatable {
        case text(String)
        case field([String], column: Int)
    }
    fileprivate enum Value {
        case stamp(StampName)
        case time, transport
        case field(FieldPath)
        /// The event lacks it.
        case nothing
    }
    /// What stands in braces besides fields and what a stamp has.
    private static let time = "time", transport = "transport"

    let text: String
    private let parts: [Part]

    /// Throws what is wrong with the template, and where.
    init(_ text: String) throws(FilterFault) {
        self.text = text
        var parts: [Part] = []
        var literal = ""
        let characters = Array(text)
        var place = 0
        while place < characters.count {
            let character = characters[place]
            let next = place + 1 < characters.count ? characters[place + 1] : nil
            switch (character, next) {
            case ("{", "{"), ("}", "}"):
                literal.append(character)
                place += 2
            case ("\\", "n"?), ("\\", "t"?), ("\\", "\\"?):
                literal.append(next == "n" ? "\n" : next == "t" ? "\t" : "\\")
                place += 2
            case ("{", _):
                guard let end = characters[place...].firstIndex(of: "}") else {
                    throw FilterFault("'{' has no '}'; '{{' stands for a brace", at: place)
                }
                let names = String(characters[(place + 1)..<end]).split(
                    separator: ".", omittingEmptySubsequences: false)
                guard names.allSatisfy(Self.isName) else {
                    throw FilterFault("between '{' and '}' stands a field's name", at: place + 1)
                }
                if !literal.isEmpty { parts.append(.text(literal)) }
                literal = ""
                parts.append(.field(names.map(String.init), column: place + 1))
                place = end + 1
            case ("}", _): throw FilterFault("'}' has no '{' before it; '}}' stands for a brace", at: place)
            default:
                literal.append(character)
                place += 1
            }
        }
        if !literal.isEmpty { parts.append(.text(literal)) }
        self.parts = parts
        let hasField = parts.contains { if case .field = $0 { true } else { false } }
        if !hasField { throw FilterFault("it names no field in braces, such as {sequence}", at: 0) }
    }
    private static func isName(_ text: Substring) -> Bool {
        guard let first = text.first, first.isLetter || first == "_" else { return false }
        return text.allSatisfy { $0.isLetter || $0.isNumber || $0 == "_" }
    }

    /// Throws where no event has a field: then it is a mistake.
    func check(_ events: some Sequence<(key: EventFields.Key, value: [IntrospectedField])>) throws(FilterFault) {
        for case .field(let names, let column) in parts where !Self.isOfEvery(names) {
            var fault: String?
            var isKnown = false
            for (key, fields) in events {
                do throws(Unfit) {
                    _ = try FieldPath(names, in: fields, of: key.name)
                    isKnown = true
                } catch { fault = fault ?? error.reason }
            }
            if let fault, !isKnown {
                let all = Set(events.flatMap { $0.value.map(\.name) } + StampName.allCases.map(\.rawValue))
                let hint = NearMiss.hint(for: names[0], among: all.union([Self.time, Self.transport]))
                throw FilterFault(
                    all.contains(names[0]) ? fault : "none of these events has a field '\(names[0])'" + hint, at: column
                )
            }
        }
    }
    private static func isOfEvery(_ names: [String]) -> Bool {
        names.count == 1 && (StampName(rawValue: names[0]) != nil || [time, transport].contains(names[0]))
    }

    /// Prepared for events of these fields.
    struct Line {
        fileprivate let parts: [(text: [UInt8], value: Value?)]
        let event: String
        let interface: String
    }
    func line(for key: EventFields.Key, fields: [IntrospectedField]) -> Line {
        let prepared = parts.map { part -> (text: [UInt8], value: Value?) in
            switch part {
            case .text(let text): return (Array(text.utf8), nil)
            case .field(let names, _):
                // A field of the event's own comes first.
                do throws(Unfit) { return ([], .field(try FieldPath(names, in: fields, of: key.name))) } catch {
                    guard Self.isOfEvery(names) else { return ([], .nothing) }
                    if names[0] == Self.time { return ([], .time) }
                    return ([], StampName(rawValue: names[0]).map { .stamp($0) } ?? .transport)
                }
            }
        }
        return Line(parts: prepared, event: key.name, interface: key.interface)
    }
}

extension EventTemplate.Line {
    /// Returns what is wrong with the body: then a field stands empty.
    func append(
        _ stamp: Stamp, _ body: UnsafeRawBufferPointer, transport: String, clock: inout EventClock,
        to output: inout ByteBuffer
    ) -> WireFault? {
        var fault: WireFault?
        for part in parts {
            output.append(part.text)
            switch part.value {
            case nil, .nothing?: break
            case .time?: clock.append(timeOfDay: stamp.publishedAt.microseconds, to: &output)
            case .transport?: output.append(transport)
            case .stamp(let name)?:
                switch name {
                case .sequence: output.append(decimal: stamp.sequence)
                case .previous: output.append(decimal: stamp.previous)
                case .epoch: output.append(decimal: stamp.epoch)
                case .publishedAt: EventClock.append(timestamp: stamp.publishedAt.microseconds, to: &output)
                case .event: SafeText.append(event, to: &output)
                case .interface: SafeText.append(interface, to: &output)
                }
            case .field(let path)?:
                let start = output.count
                do throws(WireFault) { try append(path, body, to: &output) } catch {
                    output.truncate(to: start)
                    fault = fault ?? error
                }
            }
        }
        output.append(byte: UInt8(ascii: "\n"))
        return fault
    }
    /// A text as it is, but for what would act on a terminal; all else as in other lines.
    private func append(_ path: FieldPath, _ body: UnsafeRawBufferPointer, to output: inout ByteBuffer)
        throws(WireFault)
    {
        var reader = WireReader(body)
        guard try path.seek(&reader) else { return }
        switch path.shape {
        case .basic(.string): SafeText.append(try reader.string(), to: &output)
        case .basic(.objectPath): SafeText.append(try reader.objectPath(), to: &output)
        case .basic(.double): output.append(ValuePrinter.text(try reader.double()))
        default: try ValuePrinter.append(path.shape, from: &reader, to: &output)
        }
    }
}
