package import RelayCore
package import RelayTool

/// The options that all daemons have.
package enum DaemonOptions {
    package static let session = Option(switch: "session", "the session bus (the default, if there is one)")
    package static let system = Option(switch: "system", "the system bus")
    package static let address = Option<String?>("bus", .busAddress, "the bus at this D-Bus address")
    package static let config = Option<String?>(
        "config",
        ValueKind("FILE") { text throws(Unfit) in
            if text.isEmpty || text.hasSuffix("/") { throw Unfit("is no file; give a name or a path") }
            return text
        }, "settings to read: a path, or a name to look for")
    /// - Parameter standard: the settings that are meant without `--config`.
    package static func checkConfig(_ standard: String) -> Option<Bool> {
        Option(
            switch: "check-config", "print what the settings say, and end (default of --config: \(standard))")
    }
    package static let manual = Option(switch: "manual", "this text as a manual page in roff, for man(1)")
    package static let logLevel = Option<Log.Level>(
        "log-level", .word("LEVEL", Log.Level.allCases) { $0.name }, "the least that is logged", standard: "info")
    /// Whom a service admits.
    package static let who = ValueKind<PeerRequirement>("WHO") { text throws(Unfit) in
        switch text {
        case "anyone": return .anyone
        case "user": return .sameUser
        default:
            let prefix = "group:"
            guard text.hasPrefix(prefix), text.count > prefix.count else {
                throw Unfit("is nobody; there are user, group:NAME and anyone")
            }
            return .sameUser || .group(String(text.dropFirst(prefix.count)))
        }
    }
    /// How settings are found.
    ///
    /// - Parameters:
    ///   - standard: a name as an example.
    ///   - reload: what is said of changes.
    package static func details(_ keys: ConfigurationKeys, standard: String, reload: String) -> String {
        """
        --config reads settings from a file like systemd's: below [\(keys.section)] there are \(
            Words.list(keys.options.map { ConfigurationKeys.key(of: $0) })), each as the option of its name. A name without a \
        slash, such as \(standard), is looked for in \(Words.list(ConfigurationSearch.standardFolders)): the first one \
        counts. Files of NAME.d in these folders are read after it, by their names, if they end in .conf. FILE with a \
        slash is a path, and FILE.d stands beside it. What is typed here prevails over settings. --check-config prints \
        what the settings say, or what is wrong with them. \(reload)
        """
    }
}

/// What a daemon's command line asks for, with the settings that it names.
package enum DaemonRequest<Options> {
    case run(Options)
    /// The text to print: the settings are right.
    case checked(String)
    case help, manual, version

    /// Reads the arguments, and the settings that they name.
    ///
    /// - Parameters:
    ///   - keys: what settings may set.
    ///   - standard: the settings that `--check-config` means alone.
    ///   - folders: where settings are looked for.
    /// - Throws: what is wrong: with the offending word, or with file and line, and what to do.
    package init(
        _ arguments: [String], of program: ProgramDeclaration, _ keys: ConfigurationKeys, standard: String,
        folders: [String], _ options: (ParsedLine) throws(UsageError) -> Options
    ) throws(ServiceFailure) {
        func request(_ arguments: [String]) throws(ServiceFailure) -> ProgramDeclaration.Request {
            do throws(UsageError) { return try program.parse(arguments) } catch {
                throw ServiceFailure(code: .usage, message: error.message)
            }
        }
        let typed: ParsedLine
        switch try request(arguments) {
        case .help:
            self = .help
            return
        case .version:
            self = .version
            return
        case .run(_, let line): typed = line
        }
        if typed[DaemonOptions.manual] {
            self = .manual
            return
        }
        let isChecked = typed[DaemonOptions.checkConfig(standard)]
        guard let file = typed[DaemonOptions.config] ?? (isChecked ? standard : nil) else {
            do throws(UsageError) { self = .run(try options(typed)) } catch {
                throw ServiceFailure(code: .usage, message: error.message)
            }
            return
        }
        let settings: DaemonSettings
        do throws(ConfigurationError) {
            settings = try DaemonSettings(ConfigurationSearch(typed: file, folders: folders), keys)
        } catch {
            throw ServiceFailure(code: .wrongSettings, message: error.message)
        }
        // What was typed alone is right, so that this concerns the settings, too.
        let merged = try request(settings.arguments(below: typed) + arguments)
        guard case .run(_, let line) = merged else {
            self = .help
            return
        }
        do throws(UsageError) {
            let options = try options(line)
            self = isChecked ? .checked(settings.description) : .run(options)
        } catch {
            throw ServiceFailure(
                code: .wrongSettings, message: "with the settings of \(Words.list(settings.files)): \(error.message)")
        }
    }
}
extension DaemonRequest: Equatable where Options: Equatable {}
