import Foundation

/// The messages that sources can report, as far as they stand there as literals.
struct ErrorSource {
    /// `Sources/relay-cli/Verbs/Watch.swift:151`
    let place: String
    /// The parts of a message that are always the same, in their order.
    let parts: [String]

    /// Whether a text has all parts in their order.
    func matches(_ text: String) -> Bool {
        // Thousands of texts are looked through for hundreds of messages: C's search is a hundred times as fast.
        text.withCString { start in
            var rest = start
            for part in parts {
                guard let found = strstr(rest, part) else { return false }
                rest = UnsafePointer(found) + part.utf8.count
            }
            return true
        }
    }
    /// What is looked for in the sources of tests, where the rest of a message may be put together.
    var longest: String { parts.max { $0.count < $1.count } ?? "" }

    /// Those that a file's calls of these initialisers have.
    static func all(in text: String, path: String) throws -> [ErrorSource] {
        let calls = try NSRegularExpression(
            pattern: #"\b(CLIFailure|UsageError|Unfit|FilterFault|ConfigurationError|ServiceFailure)\("#)
        let bytes = Array(text.utf8)
        return calls.matches(in: text, range: NSRange(text.startIndex..., in: text)).flatMap { match -> [ErrorSource] in
            guard let range = Range(match.range, in: text) else { return [] }
            let start = text.utf8.distance(from: text.startIndex, to: range.upperBound)
            let line = bytes[..<start].count { $0 == UInt8(ascii: "\n") } + 1
            return literals(bytes[start...]).filter { $0.joined().count >= 8 }
                .map { ErrorSource(place: "\(path):\(line)", parts: $0) }
        }
    }

    /// The string literals up to the parenthesis that ends a call, each as the parts between its interpolations.
    private static func literals(_ text: ArraySlice<UInt8>) -> [[String]] {
        var (found, rest, depth) = ([[String]](), text, 1)
        while depth > 0, let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "("): depth += 1
            case UInt8(ascii: ")"): depth -= 1
            case UInt8(ascii: "\""): found.append(literal(&rest))
            default: break
            }
        }
        return found
    }
    /// Behind its opening quote. An escape parts it, too: what stands for it in a message need not be known, also in a
    /// raw literal (`#"…"#`).
    private static func literal(_ rest: inout ArraySlice<UInt8>) -> [String] {
        var (parts, part) = ([String](), [UInt8]())
        while let byte = rest.popFirst(), byte != UInt8(ascii: "\"") {
            guard byte == UInt8(ascii: "\\") else {
                part.append(byte)
                continue
            }
            parts.append(String(decoding: part, as: UTF8.self))
            part = []
            guard rest.popFirst() == UInt8(ascii: "(") else { continue }
            var depth = 1
            while depth > 0, let byte = rest.popFirst() {
                switch byte {
                case UInt8(ascii: "("): depth += 1
                case UInt8(ascii: ")"): depth -= 1
                case UInt8(ascii: "\""): _ = literal(&rest)
                default: break
                }
            }
        }
        return (parts + [String(decoding: part, as: UTF8.self)]).filter { !$0.isEmpty }
    }
}
