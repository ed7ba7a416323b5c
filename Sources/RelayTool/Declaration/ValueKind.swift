import RelayCore
import RelayWire

/// Why a text is no value of its kind: how a sentence goes on that begins with the text, as in "is no number of events
/// from 1 on".
package struct Unfit: Error, Equatable, Sendable {
    package let reason: String
    /// Lines that show the place: the text, and a caret below it.
    package let excerpt: [String]

    package init(_ reason: String, excerpt: [String] = []) { (self.reason, self.excerpt) = (reason, excerpt) }
}

/// What an option or an operand takes: how its values are called, and how a text becomes one.
package struct ValueKind<Value: Sendable>: Sendable {
    /// What usage lines call a value: `N`.
    package let name: String
    /// All values, where these are a few words; else empty.
    package let words: [String]
    package let read: @Sendable (String) throws(Unfit) -> Value

    package init(
        _ name: String, words: [String] = [], read: @escaping @Sendable (String) throws(Unfit) -> Value
    ) {
        (self.name, self.words, self.read) = (name, words, read)
    }

    package func map<Other: Sendable>(_ change: @escaping @Sendable (Value) -> Other) -> ValueKind<Other> {
        let read = self.read
        return ValueKind<Other>(name, words: words) { text throws(Unfit) in change(try read(text)) }
    }
}

extension ValueKind {
    /// One of a few words. The value's name in lower case is the noun of the refusal: "is no format; there are json and
    /// csv".
    package static func word(_ name: String, _ values: [Value], _ word: @escaping @Sendable (Value) -> String)
        -> ValueKind
    {
        let words = values.map(word)
        return ValueKind(name, words: words) { text throws(Unfit) in
            if let index = words.firstIndex(of: text) { return values[index] }
            let hint = NearMiss.hint(for: text, among: words)
            let advice = hint.isEmpty ? "; there are \(Words.list(words))" : hint
            throw Unfit("is no \(name.lowercased())\(advice)")
        }
    }
    /// One of an enumeration's raw values.
    package static func word(_ name: String) -> ValueKind
    where Value: CaseIterable & RawRepresentable, Value.RawValue == String {
        word(name, Array(Value.allCases)) { $0.rawValue }
    }
    /// Values with commas between them.
    package static func list<Element: Sendable>(of kind: ValueKind<Element>) -> ValueKind where Value == [Element] {
        ValueKind(kind.name, words: kind.words) { text throws(Unfit) in
            var values: [Element] = []
            for part in text.split(separator: ",", omittingEmptySubsequences: false) {
                do throws(Unfit) { values.append(try kind.read(String(part))) } catch {
                    // Of several, the refusal names the one that it is about.
                    throw part.count == text.count ? error : Unfit("has '\(part)', which \(error.reason)")
                }
            }
            return values
        }
    }
}

extension ValueKind where Value == UInt64 {
    /// A number without a sign: "is no number of events from 1 on".
    package static func count(_ name: String = "N", of what: String, _ range: ClosedRange<UInt64>) -> ValueKind {
        ValueKind(name) { text throws(Unfit) in
            guard !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let value = UInt64(text),
                range.contains(value)
            else {
                let end = range.upperBound == .max ? "on" : "to \(range.upperBound)"
                throw Unfit("is no number of \(what) from \(range.lowerBound) \(end)")
            }
            return value
        }
    }
}

extension ValueKind where Value == Double {
    /// A number with or without decimals: no sign, no exponent.
    package static func decimal(_ name: String, of what: String, _ range: ClosedRange<Double>) -> ValueKind {
        ValueKind(name) { text throws(Unfit) in
            let isPlain = text.utf8.allSatisfy { (0x30...0x39).contains($0) || $0 == UInt8(ascii: ".") }
            guard isPlain, let value = Double(text), range.contains(value) else {
                throw Unfit("is no number of \(what) between \(plain(range.lowerBound)) and \(plain(range.upperBound))")
            }
            return value
        }
    }
    /// Without `.0`.
    private static func plain(_ value: Double) -> String { Int(exactly: value).map { "\($0)" } ?? "\(value)" }
}

extension ValueKind where Value == String {
    package static let file = ValueKind("FILE") { text throws(Unfit) in
        if text.isEmpty || text.hasSuffix("/") { throw Unfit("is no file; give the path of one") }
        return text
    }
    package static let directory = ValueKind("DIR") { text throws(Unfit) in
        if text.isEmpty { throw Unfit("is no folder; give the path of one") }
        return text
    }
    /// The well-known name of a service; `example` is one.
    package static func serviceName(_ name: String, example: String) -> ValueKind {
        ValueKind(name) { text throws(Unfit) in
            guard BusNames.isWellKnownName(text) else {
                throw Unfit("is no name for a service; one looks like \(example)")
            }
            return text
        }
    }
    /// A D-Bus address, if it has the shape of one: libdbus has the last word.
    package static let busAddress = ValueKind("ADDRESS") { text throws(Unfit) in
        let isLegal = text.split(separator: ";", omittingEmptySubsequences: false).allSatisfy { entry in
            guard let colon = entry.firstIndex(of: ":") else { return false }
            return colon > entry.startIndex
        }
        guard isLegal else { throw Unfit("is no D-Bus address; one looks like unix:path=/run/user/1000/bus") }
        return text
    }
}
