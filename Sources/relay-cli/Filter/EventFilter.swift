import RelayCore
import RelayTool
import RelayWire

/// What `--where` asks of an event: read, and not yet compared with what events there are.
struct EventFilter: Sendable, Equatable {
    let text: String
    let expression: FilterExpression
    /// What times of the day and durations are reckoned from.
    fileprivate let time: LocalTime

    init(_ text: String, at time: LocalTime) throws(FilterFault) {
        (self.text, self.time) = (text, time)
        expression = try FilterParser.parse(text)
    }
    static func == (first: EventFilter, second: EventFilter) -> Bool { first.text == second.text }

    /// For events of these fields. Throws what does not fit them.
    func condition(for event: String, of interface: String, fields: [IntrospectedField]) throws(FilterFault)
        -> FilterCondition
    {
        try FilterChecker(event: event, interface: interface, fields: fields, time: time).condition(expression)
    }
    /// The first names of all ways in it, with their columns.
    var names: [(name: String, column: Int)] { Self.names(expression) }
    private static func names(_ expression: FilterExpression) -> [(name: String, column: Int)] {
        switch expression {
        case .literal: []
        case .path(let names, let column): [(names[0], column)]
        case .compare(let first, _, let second, _): names(first) + names(second)
        case .not(let inner, _): names(inner)
        case .all(let parts), .any(let parts): parts.flatMap(names)
        }
    }
}

/// What every event has besides its fields.
enum StampName: String, CaseIterable, Sendable {
    case sequence, previous, epoch, publishedAt, event, interface
}

/// An expression that fits an event's fields.
indirect enum FilterCondition: Sendable {
    enum Source: Sendable {
        case value(FilterValue)
        case field(FieldPath)
        case sequence, previous, epoch, publishedAt

        func value(_ stamp: Stamp, _ body: UnsafeRawBufferPointer) throws(WireFault) -> FilterValue {
            switch self {
            case .value(let value): value
            case .field(let path): try path.value(in: body)
            case .sequence: .number(FilterNumber(stamp.sequence))
            case .previous: .number(FilterNumber(stamp.previous))
            case .epoch: .number(FilterNumber(stamp.epoch))
            case .publishedAt: .number(FilterNumber(stamp.publishedAt.microseconds))
            }
        }
    }
    case flag(Source)
    case compare(Source, FilterExpression.Operator, Source)
    case matches(Source, TextPattern)
    case contains(Source, Source)
    case not(FilterCondition)
    case all([FilterCondition])
    case any([FilterCondition])

    /// A comparison with what is missing is false, but that it is `null`, or unequal to something.
    func holds(_ stamp: Stamp, _ body: UnsafeRawBufferPointer) throws(WireFault) -> Bool {
        switch self {
        case .flag(let source): return try source.value(stamp, body) == .bool(true)
        case .compare(let first, let comparison, let second):
            let (first, second) = (try first.value(stamp, body), try second.value(stamp, body))
            switch comparison {
            case .equal: return FilterValue.isSame(first, second)
            case .notEqual: return !FilterValue.isSame(first, second)
            default: break
            }
            guard let order = FilterValue.order(first, second) else { return false }
            switch comparison {
            case .below: return order < 0
            case .atMost: return order <= 0
            case .above: return order > 0
            default: return order >= 0
            }
        case .matches(let source, let pattern):
            if case .text(let text) = try source.value(stamp, body) { return pattern.matches(text) }
            return false
        case .contains(let source, let wanted):
            let (whole, wanted) = (try source.value(stamp, body), try wanted.value(stamp, body))
            switch (whole, wanted) {
            case (.list(let values), _): return values.contains { FilterValue.isSame($0, wanted) }
            case (.text(let text), .text(let part)): return part.isEmpty || text.contains(part)
            default: return false
            }
        case .not(let inner): return try !inner.holds(stamp, body)
        case .all(let parts):
            for part in parts where try !part.holds(stamp, body) { return false }
            return true
        case .any(let parts):
            for part in parts where try part.holds(stamp, body) { return true }
            return false
        }
    }
}

/// Finds what names are, and whether they can be compared.
private struct FilterChecker {
    /// What can be compared with what.
    enum Kind {
        case bool, number, text, time, null
        /// A variant: known when it comes.
        case any
        case named([WireCase])
        case list(Shape)
        case compound
    }
    struct Operand {
        let source: FilterCondition.Source
        let kind: Kind
        var isOptional = false
        /// Of 64 bits, as a time is that is a field.
        var canBeTime = false
        /// What it is called in a message.
        let shown: String
        let column: Int
    }
    /// One that has to be known by what it is compared with.
    enum Found {
        case operand(Operand)
        case literal(String, column: Int)
        /// A name that is none of a field's: that of a case, perhaps.
        case name(String, column: Int, refusal: String)
    }
    let event: String
    let interface: String
    let fields: [IntrospectedField]
    let time: LocalTime

    func condition(_ expression: FilterExpression) throws(FilterFault) -> FilterCondition {
        switch expression {
        case .not(let inner, _): return .not(try condition(inner))
        case .all(let parts): return .all(try conditions(parts))
        case .any(let parts): return .any(try conditions(parts))
        case .compare(let first, let comparison, let second, let column):
            return try compare(try find(first), comparison, try find(second), at: column)
        case .literal(_, let column):
            throw FilterFault("this is a value; a condition compares one with a field: capacity > 5", at: column)
        case .path:
            let operand = try known(try find(expression))
            switch operand.kind {
            case .bool, .any: return .flag(operand.source)
            default:
                throw FilterFault(
                    "\(operand.shown), so it is no condition; compare it with a value", at: operand.column)
            }
        }
    }
    private func conditions(_ parts: [FilterExpression]) throws(FilterFault) -> [FilterCondition] {
        var conditions: [FilterCondition] = []
        for part in parts { conditions.append(try condition(part)) }
        return conditions
    }

    // MARK: Operands

    private func find(_ expression: FilterExpression) throws(FilterFault) -> Found {
        switch expression {
        case .literal(.text(let text), let column): return .literal(text, column: column)
        case .literal(.number(let number), let column):
            return .operand(
                Operand(source: .value(.number(number)), kind: .number, shown: "this is a number", column: column))
        case .literal(.bool(let value), let column):
            return .operand(
                Operand(source: .value(.bool(value)), kind: .bool, shown: "this is true or false", column: column))
        case .literal(.null, let column):
            return .operand(Operand(source: .value(.missing), kind: .null, shown: "this is null", column: column))
        case .path(let names, let column): return try find(names, column)
        case .compare, .not, .all, .any:
            throw FilterFault(
                "a condition is compared with nothing; '&&', '||' and '!' join conditions", at: expression.column)
        }
    }
    private func find(_ names: [String], _ column: Int) throws(FilterFault) -> Found {
        let shown = names.joined(separator: ".")
        let isField = fields.contains { $0.name == names[0] }
        if !isField, names.count == 1, let stamp = StampName(rawValue: names[0]) {
            func operand(_ source: FilterCondition.Source, _ kind: Kind, _ type: String) -> Found {
                .operand(Operand(source: source, kind: kind, shown: "'\(shown)' is \(type)", column: column))
            }
            return switch stamp {
            case .sequence: operand(.sequence, .number, "a number")
            case .previous: operand(.previous, .number, "a number")
            case .epoch: operand(.epoch, .number, "a number")
            case .publishedAt: operand(.publishedAt, .time, "a time")
            case .event: operand(.value(.text(event)), .text, "a text")
            case .interface: operand(.value(.text(interface)), .text, "a text")
            }
        }
        let path: FieldPath
        do throws(Unfit) { path = try FieldPath(names, in: fields, of: event) } catch {
            if !isField, names.count == 1 { return .name(shown, column: column, refusal: error.reason) }
            throw FilterFault(error.reason, at: column)
        }
        return .operand(
            Operand(
                source: .field(path), kind: Self.kind(path.shape), isOptional: path.isOptional,
                canBeTime: [.basic(.uint64), .basic(.int64)].contains(path.shape),
                shown: "'\(shown)' is of type \(path.shape.text)", column: column))
    }
    private static func kind(_ shape: Shape) -> Kind {
        switch shape {
        case .basic(.boolean): .bool
        case .basic(.string), .basic(.objectPath), .basic(.signature): .text
        case .basic: .number
        case .named(_, let cases): .named(cases)
        case .variant: .any
        case .array(let element): .list(element)
        case .dictionary(let key, _): .list(.basic(key))
        case .optional(let wrapped): kind(wrapped)
        case .structure: .compound
        case .tagged(let cases): .named(cases.map { WireCase($0.name, .text($0.name)) })
        }
    }
    private func known(_ found: Found) throws(FilterFault) -> Operand {
        switch found {
        case .operand(let operand): return operand
        case .literal(let text, let column):
            return Operand(source: .value(.text(text)), kind: .text, shown: "this is a text", column: column)
        case .name(_, let column, let refusal): throw FilterFault(refusal, at: column)
        }
    }

    // MARK: Comparisons

    private func compare(
        _ first: Found, _ comparison: FilterExpression.Operator, _ second: Found, at column: Int
    ) throws(FilterFault) -> FilterCondition {
        switch comparison {
        case .matches: return try matches(first, second)
        case .notMatches: return .not(try matches(first, second))
        case .contains: return try contains(first, second)
        default: break
        }
        // What the one side is, decides what a text or a name on the other means.
        if case .operand(let operand) = first {
            return .compare(operand.source, comparison, try source(second, as: operand, comparison))
        }
        if case .operand(let operand) = second {
            return .compare(try source(first, as: operand, comparison), comparison, operand.source)
        }
        let (first, second) = (try known(first), try known(second))
        return .compare(first.source, comparison, second.source)
    }

    private func source(_ found: Found, as other: Operand, _ comparison: FilterExpression.Operator)
        throws(FilterFault) -> FilterCondition.Source
    {
        switch (other.kind, found) {
        case (.named(let cases), .name(let name, let column, _)), (.named(let cases), .literal(let name, let column)):
            if comparison.isOrder { throw FilterFault("names have no order; '==' and '!=' compare them", at: column) }
            return .value(try raw(name, cases, column, other.shown))
        case (.time, .literal(let text, let column)): return .value(try timestamp(text, column))
        case (.number, .literal(let text, let column)) where other.canBeTime:
            return .value(try timestamp(text, column))
        case (.list, _), (.compound, _):
            let isList = if case .list = other.kind { true } else { false }
            if case .operand(let operand) = found, case .null = operand.kind, !comparison.isOrder {
                return try null(other, operand)
            }
            throw FilterFault(
                other.shown + (isList ? "; 'contains' looks into it" : "; name a field in it, behind a dot"),
                at: other.column)
        default: break
        }
        let operand = try known(found)
        switch (other.kind, operand.kind) {
        case (.any, _), (_, .any): break
        case (.null, .null): break
        case (_, .null), (.null, _):
            if comparison.isOrder {
                throw FilterFault("null has no order; '==' and '!=' compare with it", at: operand.column)
            }
            if case .null = operand.kind { return try null(other, operand) }
            _ = try null(operand, other)
        case (.number, .number), (.text, .text), (.time, .time): break
        case (.bool, .bool):
            if comparison.isOrder {
                throw FilterFault("true and false have no order; '==' and '!=' compare them", at: operand.column)
            }
        case (.named(let cases), .number), (.number, .named(let cases)):
            if cases.contains(where: { if case .text = $0.raw { true } else { false } }) {
                throw mismatch(operand, other)
            }
        case (.named, .named): break
        case (.named(let cases), .text), (.text, .named(let cases)):
            guard cases.allSatisfy({ if case .text = $0.raw { true } else { false } }) else {
                throw mismatch(operand, other)
            }
        case (.time, .number), (.number, .time):
            // Fields of such times are numbers on the wire.
            if !operand.canBeTime && !other.canBeTime {
                throw FilterFault(
                    "a time stands in quotes, as --since takes it: \"15m\", \"13:00\"", at: operand.column)
            }
        default: throw mismatch(operand, other)
        }
        return operand.source
    }
    private func mismatch(_ operand: Operand, _ other: Operand) -> FilterFault {
        // Where it is written, is of no matter to what is compared.
        let (first, second) = operand.column < other.column ? (operand, other) : (other, operand)
        return FilterFault("\(second.shown), but \(first.shown)", at: second.column)
    }
    private func null(_ other: Operand, _ null: Operand) throws(FilterFault) -> FilterCondition.Source {
        if case .any = other.kind { return null.source }
        guard other.isOptional else { throw FilterFault("\(other.shown), and is never null", at: null.column) }
        return null.source
    }
    private func raw(_ name: String, _ cases: [WireCase], _ column: Int, _ shown: String) throws(FilterFault)
        -> FilterValue
    {
        guard let found = cases.first(where: { $0.name == name }) else {
            let hint = NearMiss.hint(for: name, among: cases.map(\.name))
            throw FilterFault(
                "\(shown): '\(name)' is none of these" + hint, at: column)
        }
        return switch found.raw {
        case .signed(let value): .number(.signed(value))
        case .unsigned(let value): .number(.unsigned(value))
        case .text(let text): .text(text)
        }
    }
    private func timestamp(_ text: String, _ column: Int) throws(FilterFault) -> FilterValue {
        do throws(Unfit) {
            switch try When(text, allowsStart: false).point(at: time) {
            case .time(let time): return .number(FilterNumber(time.microseconds))
            case .sequence, .oldest: throw Unfit("is a number; leave the quotes out")
            }
        } catch { throw FilterFault("'\(text)' \(error.reason)", at: column) }
    }
    private func matches(_ first: Found, _ second: Found) throws(FilterFault) -> FilterCondition {
        let operand = try known(first)
        switch operand.kind {
        case .text, .any: break
        case .named(let cases) where cases.allSatisfy({ if case .text = $0.raw { true } else { false } }): break
        default: throw FilterFault("\(operand.shown); '~' looks into texts", at: operand.column)
        }
        guard case .literal(let text, let column) = second else {
            throw FilterFault("behind '~' stands a regular expression in quotes", at: try known(second).column)
        }
        do throws(PatternFault) { return .matches(operand.source, try TextPattern(text)) } catch {
            throw FilterFault("this is no regular expression: \(error.reason)", at: column)
        }
    }
    private func contains(_ first: Found, _ second: Found) throws(FilterFault) -> FilterCondition {
        let operand = try known(first)
        switch operand.kind {
        case .any: return .contains(operand.source, try known(second).source)
        case .text:
            let wanted = try known(second)
            switch wanted.kind {
            case .text, .any: return .contains(operand.source, wanted.source)
            default: throw FilterFault("\(wanted.shown), but \(operand.shown)", at: wanted.column)
            }
        case .list(let element):
            let one = Operand(
                source: operand.source, kind: Self.kind(element), isOptional: element.isOptional,
                canBeTime: [.basic(.uint64), .basic(.int64)].contains(element),
                shown: operand.shown, column: operand.column)
            return .contains(operand.source, try source(second, as: one, .equal))
        default: throw FilterFault("\(operand.shown); 'contains' looks into lists and texts", at: operand.column)
        }
    }
}

extension Shape {
    fileprivate var isOptional: Bool { if case .optional = self { true } else { false } }
}
