import RelayTool

/// An expression as it was written: names are not looked up yet.
indirect enum FilterExpression: Equatable, Sendable {
    enum Operator: String, Sendable {
        case equal = "==", notEqual = "!=", below = "<", atMost = "<=", above = ">", atLeast = ">="
        case matches = "~", notMatches = "!~", contains

        var isOrder: Bool { [.below, .atMost, .above, .atLeast].contains(self) }
    }
    enum Literal: Equatable, Sendable {
        case number(FilterNumber)
        case text(String)
        case bool(Bool)
        case null
    }
    case literal(Literal, column: Int)
    /// A field, and fields in it.
    case path([String], column: Int)
    case compare(FilterExpression, Operator, FilterExpression, column: Int)
    case not(FilterExpression, column: Int)
    /// Two or more.
    case all([FilterExpression])
    case any([FilterExpression])

    /// Where it begins.
    var column: Int {
        switch self {
        case .literal(_, let column), .path(_, let column), .not(_, let column): column
        case .compare(let first, _, _, _): first.column
        case .all(let parts), .any(let parts): parts.first?.column ?? 0
        }
    }
}

/// Reads an expression:
///
///     any        = all { "||" all }
///     all        = part { "&&" part }
///     part       = "!" part | operand [ operator operand ]
///     operand    = "(" any ")" | number | text | "true" | "false" | "null" | name { "." name }
///     operator   = "==" | "!=" | "<" | "<=" | ">" | ">=" | "~" | "!~" | "contains"
struct FilterParser {
    /// Of parentheses and `!`: each takes room on the stack.
    private static let deepest = 64

    private let tokens: [FilterLexer.Token]
    private var place = 0
    private var depth = 0

    private init(_ tokens: [FilterLexer.Token]) { self.tokens = tokens }

    static func parse(_ text: String) throws(FilterFault) -> FilterExpression {
        var parser = FilterParser(try FilterLexer.tokens(of: text))
        let expression = try parser.any()
        switch parser.current.word {
        case .end: return expression
        case .symbol(.close): throw parser.fault("')' has no '(' before it")
        default: throw parser.fault("'&&', '||' or an operator is missing before \(parser.shown)")
        }
    }

    // MARK: Tokens

    /// The last of them is the end, which is never passed.
    private var current: FilterLexer.Token { tokens[min(place, tokens.count - 1)] }
    private mutating func skip(_ symbol: FilterLexer.Symbol) -> Bool {
        guard current.word == .symbol(symbol) else { return false }
        place += 1
        return true
    }
    private func fault(_ message: String) -> FilterFault { FilterFault(message, at: current.column) }
    private var shown: String {
        switch current.word {
        case .name(let name): "'\(name)'"
        case .number: "this number"
        case .text: "this text"
        case .symbol(let symbol): "'\(symbol.rawValue)'"
        case .end: "the end"
        }
    }

    // MARK: Rules

    private mutating func any() throws(FilterFault) -> FilterExpression {
        var parts = [try all()]
        while skip(.or) { parts.append(try all()) }
        return parts.count == 1 ? parts[0] : .any(parts)
    }
    private mutating func all() throws(FilterFault) -> FilterExpression {
        var parts = [try part()]
        while skip(.and) { parts.append(try part()) }
        return parts.count == 1 ? parts[0] : .all(parts)
    }
    private mutating func part() throws(FilterFault) -> FilterExpression {
        let column = current.column
        if skip(.not) {
            try enter()
            defer { depth -= 1 }
            return .not(try part(), column: column)
        }
        let first = try operand()
        let at = current.column
        guard let found = comparison else { return first }
        place += 1
        let second = try operand()
        if comparison != nil {
            throw fault("two comparisons need '&&' between them: 1 < a && a < 5")
        }
        return .compare(first, found, second, column: at)
    }
    private var comparison: FilterExpression.Operator? {
        switch current.word {
        case .name("contains"): .contains
        case .symbol(let symbol): FilterExpression.Operator(rawValue: symbol.rawValue)
        default: nil
        }
    }
    private mutating func operand() throws(FilterFault) -> FilterExpression {
        let (word, column) = (current.word, current.column)
        switch word {
        case .symbol(.open):
            try enter()
            defer { depth -= 1 }
            place += 1
            let inner = try any()
            guard skip(.close) else { throw fault("')' is missing before \(shown)") }
            return inner
        case .number(let number):
            place += 1
            return .literal(.number(number), column: column)
        case .text(let text):
            place += 1
            return .literal(.text(text), column: column)
        case .name(let name):
            place += 1
            switch name {
            case "true": return .literal(.bool(true), column: column)
            case "false": return .literal(.bool(false), column: column)
            case "null": return .literal(.null, column: column)
            default: return .path(try path(name), column: column)
            }
        case .end:
            throw fault(tokens.count == 1 ? "an expression is missing" : "a field or a value is missing at the end")
        case .symbol: throw fault("a field or a value is missing before \(shown)")
        }
    }
    private mutating func path(_ first: String) throws(FilterFault) -> [String] {
        var path = [first]
        while skip(.dot) {
            guard case .name(let name) = current.word else { throw fault("a field's name is missing behind '.'") }
            path.append(name)
            place += 1
        }
        return path
    }
    private mutating func enter() throws(FilterFault) {
        depth += 1
        if depth > Self.deepest { throw fault("parentheses and '!' go no deeper than \(Self.deepest)") }
    }
}
