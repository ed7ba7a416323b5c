// getopt's optind, optarg and optopt are plain globals: every use of them is under `getoptLock`.
@preconcurrency import CRelayShims
import Glibc
import Synchronization

/// getopt_long keeps its state in the C library's globals.
private let getoptLock = Mutex(())

/// Splits a command line into options and operands with getopt_long(3).
struct OptionScanner {
    struct Result: Equatable {
        var options: [Found] = []
        var operands: [String] = []
    }
    struct Found: Equatable {
        let name: String
        let argument: String?
    }
    /// What getopt_long reports for the first option: above any letter.
    private static let base: Int32 = 256

    let options: [any DeclaredOption]
    /// The verb that is meant, as far as one is named; options that it has are meant before those of others.
    var verb: CommandDeclaration?
    /// Those that every verb has.
    var common: [any DeclaredOption] = []

    /// Scans the arguments that follow the program's name; options may stand anywhere before a `--`.
    func scan(_ arguments: [String]) throws(UsageError) -> Result {
        let outcome = getoptLock.withLock { _ in
            Swift.Result { () throws(UsageError) in try scanLocked(arguments) }
        }
        return try outcome.get()
    }

    private func scanLocked(_ arguments: [String]) throws(UsageError) -> Result {
        // getopt keeps pointers into argv, and compares the options' names, for as long as it scans: both stay until
        // the end.
        var argv: [UnsafeMutablePointer<CChar>?] = (["-"] + arguments).map { strdup($0) } + [nil]
        let names = options.map { strdup($0.name) }
        defer { for pointer in argv + names { free(pointer) } }
        var table = options.indices.map { index in
            option(
                name: names[index], has_arg: options[index].argument == nil ? no_argument : required_argument,
                flag: nil,
                val: Self.base + Int32(index))
        }
        table.append(option())
        let count = Int32(argv.count - 1)

        var result = Result()
        opterr = 0  // The messages are ours.
        optind = 0  // Start anew, and read the flags of the letters again.
        while true {
            let scanned = max(1, Int(optind))
            let found = getopt_long(count, &argv, letters, table, nil)
            switch found {
            case -1:
                for index in Int(optind)..<max(Int(optind), Int(count)) {
                    result.operands.append(text(argv[index]))
                }
                return result
            case 1:
                result.operands.append(text(optarg))
            case Int32(UInt8(ascii: ":")):
                throw missingArgument(optopt)
            case Int32(UInt8(ascii: "?")):
                throw badOption(written: text(argv[scanned]), optopt)
            default:
                guard let option = declared(found) else { throw UsageError("unknown option '\(text(argv[scanned]))'") }
                result.options.append(Found(name: option.name, argument: optarg.map { text($0) }))
            }
        }
    }

    /// "-": operands in their order, whatever POSIXLY_CORRECT is; ":": distinguish a missing argument from a bad
    /// option.
    private var letters: String {
        "-:"
            + options.map { option in
                option.letter.map { String($0) + (option.argument == nil ? "" : ":") } ?? ""
            }.joined()
    }
    /// By what getopt_long reports.
    private func declared(_ value: Int32) -> (any DeclaredOption)? {
        let index = Int(value - Self.base)
        return options.indices.contains(index)
            ? options[index] : options.first { $0.letter.map { Int32($0.value) } == value }
    }
    private func text(_ pointer: UnsafeMutablePointer<CChar>?) -> String {
        pointer.map { String(cString: $0) } ?? ""
    }

    private func missingArgument(_ value: Int32) -> UsageError {
        guard let option = declared(value) else { return UsageError("an option lacks its argument") }
        return UsageError("option '--\(option.name)' needs an argument: \(option.form)")
    }

    private func badOption(written: String, _ value: Int32) -> UsageError {
        if let option = declared(value) { return UsageError("option '--\(option.name)' takes no argument") }
        guard written.hasPrefix("--") else {
            let letter = UInt8(exactly: value).map { "-" + String(UnicodeScalar($0)) } ?? written
            return UsageError("unknown option '\(letter)'; options are written out: \(optionList)")
        }
        let name = String(written.dropFirst(2).prefix { $0 != "=" })
        let own = ((verb?.options ?? []) + common).map(\.name)
        let begun = options.map(\.name).filter { !name.isEmpty && $0.hasPrefix(name) }
        if begun.count > 1 {
            let likely = begun.filter(own.contains)
            let names = (likely.isEmpty ? begun : likely).map { "--" + $0 }
            return UsageError("option '--\(name)' could be \(names.joined(separator: " or ")); write it out")
        }
        var hint = NearMiss.hint(for: "--" + name, among: own.map { "--" + $0 })
        if hint.isEmpty { hint = NearMiss.hint(for: "--" + name, among: options.map { "--" + $0.name }) }
        return UsageError("unknown option '--\(name)'" + (hint.isEmpty ? "; \(optionList)" : hint))
    }
    private var optionList: String {
        guard let verb else { return "--help lists the options" }
        if verb.options.isEmpty { return "'\(verb.name)' has none of its own; --help lists those of every command" }
        return
            "'\(verb.name)' has \(Words.list(verb.options.map { "--" + $0.name })); 'help \(verb.name)' explains them"
    }
}
