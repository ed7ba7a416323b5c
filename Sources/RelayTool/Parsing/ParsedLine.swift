/// What is wrong with a command line, in words for the user: the word, and what to do.
package struct UsageError: Error, Equatable, Sendable {
    package let message: String
    /// Lines that show the place: a text, and a caret below it.
    package let excerpt: [String]

    package init(_ message: String, excerpt: [String] = []) { (self.message, self.excerpt) = (message, excerpt) }
}

/// A command line in which each option and operand is one that was declared, and has become a value of its type.
package struct ParsedLine: Sendable {
    private let declared: (options: Set<String>, operands: Set<String>)
    private let options: [(name: String, argument: String?, value: any Sendable)]
    private let operands: [String: [any Sendable]]

    /// What was given last, else what holds without the option.
    package subscript<Value>(option: Option<Value>) -> Value { all(option).last ?? option.absent }

    /// The names of the options that were given.
    package var given: Set<String> { Set(options.map(\.name)) }

    /// In the order given.
    package func all<Value>(_ option: Option<Value>) -> [Value] {
        precondition(declared.options.contains(option.name), "--\(option.name) is not declared")
        return options.compactMap { $0.name == option.name ? $0.value as? Value : nil }
    }

    package subscript<Value>(operand: Operand<Value>) -> Value {
        precondition(declared.operands.contains(operand.name), "\(operand.name) is not declared")
        guard let value = operand.value(of: operands[operand.name] ?? []) else {
            preconditionFailure("\(operand.name) is missing, and was not refused")
        }
        return value
    }
}

extension ProgramDeclaration {
    /// What a command line asks a program for.
    package enum Request: Sendable {
        /// nil: for the program as a whole.
        case help(CommandDeclaration?)
        case version
        /// nil where the program has no verbs.
        case run(CommandDeclaration?, ParsedLine)
    }

    /// Reads the arguments that follow the program's name.
    package func parse(_ arguments: [String]) throws(UsageError) -> Request {
        // An option's value could be a verb's name, too: then at worst a hint is another verb's.
        let meant = arguments.prefix { $0 != "--" }.lazy.compactMap { word in verbs.first { $0.name == word } }.first
        let scanned = try OptionScanner(options: everyOption, verb: meant, common: options).scan(arguments)
        var operands = scanned.operands[...]
        if scanned.options.contains(where: { $0.name == help.name }) {
            guard !verbs.isEmpty, let first = operands.first else { return .help(nil) }
            let verb = try verb(first)
            if !verb.explainsOperands || operands.count < 2 { return .help(verb) }
        }
        if scanned.options.contains(where: { $0.name == version.name }) { return .version }
        var verb: CommandDeclaration?
        if !verbs.isEmpty {
            guard let first = operands.popFirst() else {
                throw UsageError("no command; \(verbList) (\(name) --help)")
            }
            verb = try self.verb(first)
        }
        return .run(verb, try ParsedLine(scanned.options, Array(operands), of: verb, in: self))
    }

    /// Of all verbs: which of them is meant is known when the options are. Two options of a name are alike, but for
    /// what they read.
    private var everyOption: [any DeclaredOption] {
        var names: Set<String> = []
        return (options + verbs.flatMap(\.options)).filter { names.insert($0.name).inserted }
    }
}

extension ParsedLine {
    fileprivate init(
        _ found: [OptionScanner.Found], _ texts: [String], of verb: CommandDeclaration?, in program: ProgramDeclaration
    ) throws(UsageError) {
        let command = verb ?? program.command
        let known = verb == nil ? program.options : program.options + command.options
        var options: [(name: String, argument: String?, value: any Sendable)] = []
        for option in found {
            guard let declared = known.first(where: { $0.name == option.name }) else {
                let owners = program.verbs.filter { $0.options.contains { $0.name == option.name } }
                throw UsageError(
                    "option '--\(option.name)' belongs to \(Words.list(owners.map { "'\($0.name)'" })), "
                        + "not to '\(command.name)'")
            }
            options.append((option.name, option.argument, try declared.value(of: option.argument)))
        }
        declared = (Set(known.map(\.name)), Set(command.operands.map(\.name)))
        self.options = options
        operands = try Self.operands(texts, of: command)
        for group in verb == nil ? command.exclusive : program.command.exclusive + command.exclusive {
            let given = Set(found.map(\.name)).intersection(group.options.map(\.name))
            if given.count > 1 { throw group.refusal }
        }
    }

    private static func operands(_ texts: [String], of command: CommandDeclaration) throws(UsageError)
        -> [String: [any Sendable]]
    {
        var (result, rest) = ([String: [any Sendable]](), texts[...])
        let needed = command.operands.filter { $0.count.lowerBound > 0 }
        if texts.count < needed.count, needed.count > 1 {
            let missing = needed.dropFirst(texts.count)
            let usage = ([command.name] + command.operands.map(\.form)).joined(separator: " ")
            throw UsageError(
                "'\(command.name)' needs \(Words.list(missing.map(\.name))): \(usage); 'help \(command.name)' explains it"
            )
        }
        for operand in command.operands {
            let taken = rest.prefix(operand.count.upperBound)
            rest = rest.dropFirst(taken.count)
            if taken.count < operand.count.lowerBound { throw UsageError("'\(command.name)' needs \(operand.summary)") }
            var values: [any Sendable] = []
            for text in taken { values.append(try operand.value(of: text)) }
            result[operand.name] = values
        }
        if let extra = rest.first {
            let most =
                command.operands.isEmpty
                ? "no operand" : "no more than " + command.operands.map(\.name).joined(separator: " ")
            throw UsageError("'\(command.name)' takes \(most): '\(extra)'")
        }
        return result
    }
}
