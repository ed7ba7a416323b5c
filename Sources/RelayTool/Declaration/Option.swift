/// What help, the parser and generated files know of an option, whatever the type of its values.
package protocol DeclaredOption: Sendable {
    /// Without the dashes.
    var name: String { get }
    /// For a form like `-h`; an ASCII letter.
    var letter: Unicode.Scalar? { get }
    /// What it is for, in lower case and without a full stop.
    var summary: String { get }
    /// nil: a switch.
    var argument: OptionArgument? { get }
    /// The value that stands for this argument of the option, of its type.
    ///
    /// Throws what is wrong with it, in words for the user.
    func value(of argument: String?) throws(UsageError) -> any Sendable
}

/// What follows an option.
package struct OptionArgument: Equatable, Sendable {
    /// `N`
    package let name: String
    /// All that it can be, where that is a few words; else empty.
    package let words: [String]
    /// What holds without the option, as it would be typed.
    package let standard: String?
}

extension DeclaredOption {
    /// `--count N`
    package var form: String { "--" + name + (argument.map { " " + $0.name } ?? "") }
}

/// An option of a command line, and the type of what it stands for.
package struct Option<Value: Sendable>: DeclaredOption {
    package let name: String
    package let letter: Unicode.Scalar?
    package let summary: String
    package let argument: OptionArgument?
    /// What holds without the option.
    package let absent: Value
    private let reading: @Sendable (String) throws(Unfit) -> Value

    /// One that may be left out: nil.
    package init<Given>(
        _ name: String, letter: Unicode.Scalar? = nil, _ kind: ValueKind<Given>, _ summary: String
    ) where Value == Given? {
        (self.name, self.summary, self.letter) = (name, summary, letter)
        argument = OptionArgument(name: kind.name, words: kind.words, standard: nil)
        absent = nil
        let read = kind.read
        reading = { text throws(Unfit) in try read(text) }
    }
    /// One that stands for a value when it is left out, too: for that of the text `standard`.
    package init(_ name: String, _ kind: ValueKind<Value>, _ summary: String, standard: String) {
        (self.name, self.summary, letter, reading) = (name, summary, nil, kind.read)
        argument = OptionArgument(name: kind.name, words: kind.words, standard: standard)
        do throws(Unfit) { absent = try kind.read(standard) } catch {
            preconditionFailure("--\(name): its standard '\(standard)' \(error.reason)")
        }
    }
    /// A switch.
    package init(switch name: String, letter: Unicode.Scalar? = nil, _ summary: String) where Value == Bool {
        (self.name, self.letter, self.summary, argument, absent) = (name, letter, summary, nil, false)
        reading = { _ in true }
    }

    package func value(of argument: String?) throws(UsageError) -> any Sendable { try read(argument ?? "") }
    package func read(_ text: String) throws(UsageError) -> Value {
        do throws(Unfit) { return try reading(text) } catch { throw refusal(of: text, error) }
    }
    /// For a value that turns out to be unfit later.
    package func refusal(of text: String, _ unfit: Unfit) -> UsageError {
        UsageError("option '--\(name)': '\(text)' \(unfit.reason)", excerpt: unfit.excerpt)
    }
}

/// Options of which a command line has one.
package struct ExclusiveOptions: Sendable {
    package let options: [any DeclaredOption]
    private let fault: String

    /// - Parameter fault: what is wrong with several, as in "two buses were asked for".
    package init(_ options: any DeclaredOption..., fault: String) { (self.options, self.fault) = (options, fault) }

    package var refusal: UsageError { UsageError("\(fault); give one of \(Words.list(options.map(\.form)))") }
}

/// What help, the parser and generated files know of an operand: an argument that is no option.
package protocol DeclaredOperand: Sendable {
    /// `EVENT`
    var name: String { get }
    /// How many there may be.
    var count: ClosedRange<Int> { get }
    /// What it is, with an article: "a command's name". In lower case and without a full stop.
    var summary: String { get }
    /// All that it can be, where that is a few words; else empty.
    var words: [String] { get }
    /// Throws what is wrong with a text, in words for the user.
    func value(of text: String) throws(UsageError) -> any Sendable
}

extension DeclaredOperand {
    /// `[EVENT…]`
    package var form: String {
        let form = name + (count.upperBound > 1 ? "…" : "")
        return count.lowerBound == 0 ? "[\(form)]" : form
    }
}

/// An operand of a command line, and the type of what it stands for.
package struct Operand<Value: Sendable>: DeclaredOperand {
    package let name: String
    package let count: ClosedRange<Int>
    package let summary: String
    package let words: [String]
    private let reading: @Sendable (String) throws(Unfit) -> any Sendable
    private let joining: @Sendable ([any Sendable]) -> Value?

    /// One that has to be there.
    package init(_ kind: ValueKind<Value>, _ summary: String) {
        self.init(kind, summary, 1...1) { $0.first as? Value }
    }
    /// One that may be left out: nil.
    package init<Given>(optional kind: ValueKind<Given>, _ summary: String) where Value == Given? {
        self.init(kind, summary, 0...1) { .some($0.first as? Given) }
    }
    /// Any number of them.
    package init<Given>(any kind: ValueKind<Given>, _ summary: String) where Value == [Given] {
        self.init(kind, summary, 0...Int.max) { $0.compactMap { $0 as? Given } }
    }
    /// One or more of them.
    package init<Given>(some kind: ValueKind<Given>, _ summary: String) where Value == [Given] {
        self.init(kind, summary, 1...Int.max) { $0.compactMap { $0 as? Given } }
    }
    private init<Given>(
        _ kind: ValueKind<Given>, _ summary: String, _ count: ClosedRange<Int>,
        joining: @escaping @Sendable ([any Sendable]) -> Value?
    ) {
        (name, words, self.count, self.summary, self.joining) = (kind.name, kind.words, count, summary, joining)
        let read = kind.read
        reading = { text throws(Unfit) in try read(text) }
    }

    package func value(of text: String) throws(UsageError) -> any Sendable {
        do throws(Unfit) { return try reading(text) } catch { throw UsageError("'\(text)' \(error.reason)") }
    }
    /// nil: there are too few.
    package func value(of values: [any Sendable]) -> Value? { joining(values) }
}
