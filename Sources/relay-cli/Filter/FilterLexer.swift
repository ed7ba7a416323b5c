import RelayCore
import RelayTool

/// Takes an expression apart into its words.
struct FilterLexer {
    enum Symbol: String, CaseIterable {
        // The longer ones first: each is looked for in this order.
        case and = "&&", or = "||", equal = "==", notEqual = "!=", notMatches = "!~", atMost = "<=", atLeast = ">="
        case below = "<", above = ">", matches = "~", not = "!", open = "(", close = ")", dot = "."
    }
    enum Word: Equatable {
        case name(String)
        case number(FilterNumber)
        case text(String)
        case symbol(Symbol)
        case end
    }
    struct Token: Equatable {
        let word: Word
        let column: Int
    }

    private let characters: [Character]
    private var place = 0

    init(_ text: String) { characters = Array(text) }

    /// All of them; the last is the end.
    static func tokens(of text: String) throws(FilterFault) -> [Token] {
        var lexer = FilterLexer(text)
        var tokens: [Token] = []
        repeat { tokens.append(try lexer.next()) } while tokens.last?.word != .end
        return tokens
    }

    private var current: Character? { place < characters.count ? characters[place] : nil }

    private mutating func next() throws(FilterFault) -> Token {
        while let character = current, character.isWhitespace { place += 1 }
        let start = place
        guard let character = current else { return Token(word: .end, column: start) }
        if character == "\"" || character == "'" { return Token(word: try text(character), column: start) }
        if Self.isDigit(character) || (character == "-" && place + 1 < characters.count) {
            return Token(word: .number(try number()), column: start)
        }
        if Self.beginsName(character) {
            while let character = current, Self.beginsName(character) || character.isNumber { place += 1 }
            return Token(word: .name(String(characters[start..<place])), column: start)
        }
        for symbol in Symbol.allCases where characters[place...].starts(with: symbol.rawValue) {
            place += symbol.rawValue.count
            return Token(word: .symbol(symbol), column: start)
        }
        throw FilterFault(Self.advice(character), at: start)
    }
    private static func advice(_ character: Character) -> String {
        switch character {
        case "=": "'=' compares nothing; '==' does"
        case "&": "'&' joins nothing; '&&' does"
        case "|": "'|' joins nothing; '||' does"
        case _ where !character.unicodeScalars.allSatisfy(\.isPlainlyVisible): "this character has no meaning here"
        default: "'\(character)' has no meaning here"
        }
    }

    // MARK: Words

    private static func isDigit(_ character: Character) -> Bool { ("0"..."9").contains(character) }
    private static func beginsName(_ character: Character) -> Bool { character.isLetter || character == "_" }

    /// In either kind of quotes; in it `\n`, `\t`, `\u0041`, and `\` before any other sign stands for that sign.
    private mutating func text(_ quote: Character) throws(FilterFault) -> Word {
        let start = place
        place += 1
        var text = ""
        while let character = current, character != quote {
            place += 1
            if character != "\\" {
                text.append(character)
                continue
            }
            guard let escaped = current else { break }
            place += 1
            switch escaped {
            case "n": text.append("\n")
            case "t": text.append("\t")
            case "u":
                let digits = String(characters[place...].prefix(4))
                guard digits.count == 4, let value = UInt32(digits, radix: 16), let scalar = Unicode.Scalar(value)
                else {
                    throw FilterFault(#"'\u' needs the four hexadecimal digits of a character"#, at: place - 2)
                }
                place += 4
                text.unicodeScalars.append(scalar)
            // Of a regular expression, it is the expression's own.
            case "\\", "\"", "'": text.append(escaped)
            default:
                text.append("\\")
                text.append(escaped)
            }
        }
        guard current == quote else { throw FilterFault("this text has no end: the quote is missing", at: start) }
        place += 1
        return .text(text)
    }

    private mutating func number() throws(FilterFault) -> FilterNumber {
        let start = place
        if current == "-" { place += 1 }
        var isWhole = true
        func digits() -> Int { characters[place...].prefix(while: Self.isDigit).count }
        let whole = digits()
        if whole == 0 { throw FilterFault("'-' stands before a number only", at: start) }
        place += whole
        // A dot without digits behind it is none of a number's.
        if current == ".", place + 1 < characters.count, Self.isDigit(characters[place + 1]) {
            isWhole = false
            place += 1
            place += digits()
        }
        if let character = current, character == "e" || character == "E" {
            isWhole = false
            place += 1
            if let sign = current, sign == "+" || sign == "-" { place += 1 }
            let exponent = digits()
            if exponent == 0 { throw FilterFault("this number's exponent has no digits", at: start) }
            place += exponent
        }
        if let character = current, Self.beginsName(character) {
            throw FilterFault("a number ends here; a time stands in quotes, such as \"15m\" or \"13:00\"", at: place)
        }
        let text = String(characters[start..<place])
        if isWhole {
            if let value = Int64(text) { return .signed(value) }
            if let value = UInt64(text) { return .unsigned(value) }
            throw FilterFault("no number of 64 bits is so large", at: start)
        }
        guard let value = Double(text), value.isFinite else { throw FilterFault("no number is so large", at: start) }
        return .double(value)
    }
}
