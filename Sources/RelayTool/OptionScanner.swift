// getopt's optind, optarg and optopt are plain globals: every use of them is under `getoptLock`.
@preconcurrency import CRelayShims
import Glibc
package import RelayCore
import Synchronization

/// getopt_long keeps its state in the C library's globals.
private let getoptLock = Mutex(())

/// Splits a command line into options and operands with getopt_long(3).
package struct OptionScanner<Key: OptionName> {
    package struct Result: Equatable {
        package var options: [Found] = []
        package var operands: [String] = []
    }
    package struct Found: Equatable {
        package let key: Key
        package let argument: String?
    }

    /// Scans the arguments that follow the program's name; options may stand anywhere before a `--`.
    ///
    /// Throws `InvalidArgument` with what is wrong, in words for the user.
    package static func scan(_ arguments: [String]) throws(RelayError) -> Result {
        let outcome = getoptLock.withLock { _ in
            Swift.Result { () throws(RelayError) in try scanLocked(arguments) }
        }
        return try outcome.get()
    }

    private static func scanLocked(_ arguments: [String]) throws(RelayError) -> Result {
        // getopt keeps pointers into argv, and compares the options' names, for as long as it scans: both stay until the end.
        var argv: [UnsafeMutablePointer<CChar>?] = (["-"] + arguments).map { strdup($0) } + [nil]
        let names = Key.allCases.map { strdup($0.name) }
        defer { for pointer in argv + names { free(pointer) } }
        var table = zip(Key.allCases, names).map { key, name in
            option(
                name: name, has_arg: key.placeholder == nil ? no_argument : required_argument, flag: nil,
                val: key.rawValue)
        }
        table.append(option())
        let count = Int32(argv.count - 1)

        var result = Result()
        opterr = 0  // The messages are ours.
        optind = 0  // Start anew, and read the flags of the short options again.
        while true {
            let scanned = max(1, Int(optind))
            // "-": operands in their order, whatever POSIXLY_CORRECT says; ":": tell a missing argument from a bad option.
            let found = getopt_long(count, &argv, "-:h", table, nil)
            switch found {
            case -1:
                for index in Int(optind)..<max(Int(optind), Int(count)) {
                    result.operands.append(text(argv[index]))
                }
                return result
            case 1:
                result.operands.append(text(optarg))
            case Int32(UInt8(ascii: "h")):
                result.options.append(Found(key: Key.helpOption, argument: nil))
            case Int32(UInt8(ascii: ":")):
                throw RelayError(.invalidArgument, missingArgument(optopt))
            case Int32(UInt8(ascii: "?")):
                throw RelayError(.invalidArgument, badOption(written: text(argv[scanned]), optopt))
            default:
                guard let key = Key(rawValue: found) else {
                    throw RelayError(.invalidArgument, "unknown option '\(text(argv[scanned]))'")
                }
                result.options.append(Found(key: key, argument: optarg.map { text($0) }))
            }
        }
    }

    private static func text(_ pointer: UnsafeMutablePointer<CChar>?) -> String {
        pointer.map { String(cString: $0) } ?? ""
    }

    private static func missingArgument(_ value: Int32) -> String {
        guard let key = Key(rawValue: value), let placeholder = key.placeholder else {
            return "an option lacks its argument"
        }
        return "option '--\(key.name)' needs an argument: --\(key.name) \(placeholder)"
    }

    private static func badOption(written: String, _ value: Int32) -> String {
        if let key = Key(rawValue: value) { return "option '--\(key.name)' takes no argument" }
        guard written.hasPrefix("--") else {
            let letter = UInt8(exactly: value).map { "-" + String(UnicodeScalar($0)) } ?? written
            return "unknown option '\(letter)'; options are written out: --help lists them"
        }
        let name = String(written.dropFirst(2).prefix { $0 != "=" })
        let begun = Key.allCases.map(\.name).filter { !name.isEmpty && $0.hasPrefix(name) }
        if begun.count > 1 {
            return "option '--\(name)' could be \(begun.map { "--" + $0 }.joined(separator: " or "))"
        }
        let hint = NearMiss.hint(for: "--" + name, among: Key.allCases.map { "--" + $0.name })
        return "unknown option '--\(name)'" + (hint.isEmpty ? "; --help lists the options" : hint)
    }
}
