import Glibc
import RelayCore
package import RelayJournal
package import RelayTool

/// What `relay-service check` and `relay-service backup FILE` do: look at a journal, whether a service uses it or not.
package struct JournalTool: Equatable {
    package enum Task: Equatable {
        /// nil: the journal of the state directory.
        case check(file: String?)
        case backUp(file: String)
    }
    package enum Action: Equatable {
        case run(JournalTool)
        /// A text that was asked for.
        case print(String)
        /// The program's version.
        case version
    }
    package var task: Task
    /// nil: what the environment says.
    package var stateDirectory: String?

    package init(task: Task, stateDirectory: String? = nil) {
        (self.task, self.stateDirectory) = (task, stateDirectory)
    }

    // MARK: Declarations

    private static let stateDirectoryOption = Option<String?>("state-directory", .directory, "where the journal is")
    private static let file = Operand(
        optional: ValueKind<String>("FILE") { text throws(Unfit) in
            if text.isEmpty { throw Unfit("is no file; give the path of one") }
            return text
        }, "a journal's file, such as a backup, in place of the service's")
    private static let target = Operand(
        ValueKind<String>("FILE") { text throws(Unfit) in
            if text.isEmpty || text.hasSuffix("/") { throw Unfit("is no file; give the path of one to be made") }
            return text
        }, "the file to be made")

    private static func failures(_ unreadable: String) -> [ExitMeaning] {
        [
            ExitMeaning(.badValue, "the file is damaged, is no journal, or is of a newer version"),
            ExitMeaning(.software, "an internal failure, or ended by a signal"),
            ExitMeaning(.cannotCreate, unreadable),
        ]
    }
    package static let check = ProgramDeclaration(
        CommandDeclaration(
            "relay-service check",
            summary: "checks a journal in full, also while a service uses it",
            operands: [file], options: [stateDirectoryOption],
            details: [
                """
                Reads every page and every row of the journal of --state-directory DIR, of $STATE_DIRECTORY, else of
                relay in $XDG_STATE_HOME or ~/.local/state; or of FILE. Prints a line when it is sound. Nothing is
                changed. A service goes on meanwhile; its log grows until the check has ended.
                """
            ],
            examples: [
                Example(summary: "the journal of this user's service"),
                Example("backup.sqlite", summary: "a backup"),
            ],
            exitCodes: [ExitMeaning(.ok, "it is sound"), ExitMeaning(.usage, "wrong usage")]
                + failures("there is no journal, or it cannot be read")))
    package static let backup = ProgramDeclaration(
        CommandDeclaration(
            "relay-service backup",
            summary: "copies a journal to a file, also while a service uses it",
            operands: [target], options: [stateDirectoryOption],
            details: [
                """
                Copies the journal as of one moment, state and events, checks the copy in full, and gives it the name
                FILE when it is whole and on the disk. FILE must not be there yet; only its user can read it. A service
                goes on meanwhile; its log grows until the copy is made. On a terminal, stderr shows how far it is.
                """
            ],
            examples: [Example("backup.sqlite", summary: "the journal of this user's service")],
            exitCodes: [
                ExitMeaning(.ok, "the copy is there, and sound"), ExitMeaning(.usage, "wrong usage, or FILE is there"),
            ]
                + failures("there is no journal, it cannot be read, or FILE cannot be made") + [
                    ExitMeaning(.outputFailed, "the disk is full, or has failed")
                ]))

    /// What the arguments ask for; nil: to serve.
    ///
    /// Throws what is wrong, with the offending word and what to do.
    package static func parse(_ arguments: [String]) throws(UsageError) -> Action? {
        let program: ProgramDeclaration
        switch arguments.first {
        case "check": program = check
        case "backup": program = backup
        case let word? where !word.hasPrefix("-"):
            let hint = NearMiss.hint(for: word, among: ["check", "backup"])
            throw UsageError(
                "no command '\(word)'"
                    + (hint.isEmpty ? "; there are check and backup, and options to serve with" : hint))
        default: return nil
        }
        switch try program.parse(Array(arguments.dropFirst())) {
        case .help: return .print(HelpPage.text(of: nil, in: program))
        case .version: return .version
        case .run(_, let line):
            let directory = line[stateDirectoryOption]
            if program.name == backup.name {
                return .run(JournalTool(task: .backUp(file: line[target]), stateDirectory: directory))
            }
            if line[file] != nil && directory != nil {
                throw UsageError("two journals were asked for; give one of FILE and --state-directory DIR")
            }
            return .run(JournalTool(task: .check(file: line[file]), stateDirectory: directory))
        }
    }

    // MARK: Running

    /// Returns the line for stdout. Throws `ServiceFailure` with the exit code.
    ///
    /// - Parameter show: is called with the progress; each text replaces the one before, and the last one is empty.
    func run(environment: [String: String], show: (String) -> Void) throws(ServiceFailure) -> String {
        let journal: JournalInspection
        if case .check(let file?) = task {
            journal = JournalInspection(file: file)
        } else {
            do throws(RelayError) {
                journal = JournalInspection(
                    directory: try StateDirectory.find(stateDirectory, environment: environment).path)
            } catch { throw ServiceFailure(code: .usage, message: error.message) }
        }
        var shown = ""
        func report(_ progress: JournalInspection.Progress) {
            let text = Self.text(of: progress)
            if text != shown { show(text) }
            shown = text
        }
        defer { if !shown.isEmpty { show("") } }
        do {
            switch task {
            case .check: return "\(journal.path) is sound: \(Self.text(of: try journal.check(report)))"
            case .backUp(let file):
                return "\(file): \(Self.text(of: try journal.copy(to: file, report))); copied and checked"
            }
        } catch let error as RelayError where error.code == .conflict {
            throw ServiceFailure(code: .usage, message: error.message)
        } catch let error as RelayError where error.code == .cancelled {
            throw ServiceFailure(code: .software, message: error.message)
        } catch { throw ServiceFailure(error) }
    }

    package static func text(of progress: JournalInspection.Progress) -> String {
        switch progress {
        case .copying(let done, let total): "copying: \(percent(done, total)) of \(total) pages"
        case .checkingPages: "checking the pages"
        case .checkingEvents(let done, let total): "checking the events: \(percent(done, total)) of \(total)"
        }
    }
    private static func percent(_ done: Int, _ total: Int) -> String {
        total <= 0 ? "100 %" : "\(Int((Double(min(done, total)) / Double(total) * 100).rounded(.down))) %"
    }
    private static func text(of summary: JournalInspection.Summary) -> String {
        let interfaces = summary.interfaces == 1 ? "1 interface" : "\(summary.interfaces) interfaces"
        let events = summary.events == 1 ? "1 event" : "\(summary.events) events"
        return "\(events) of \(interfaces), \(summary.bytes) bytes"
    }
}

extension JournalTool {
    /// Does what the process's arguments ask for. False: they ask to serve.
    ///
    /// - Parameter program: whose arguments they are.
    package static func runIfAsked(of program: ProgramDeclaration) throws(ServiceFailure) -> Bool {
        let action: Action?
        do throws(UsageError) { action = try parse(ProcessInput.arguments()) } catch {
            throw ServiceFailure(code: .usage, message: error.message)
        }
        switch action {
        case nil: return false
        case .print(let text): try StandardOutput.write(text)
        case .version: try StandardOutput.write(HelpPage.version(of: program))
        case .run(let tool):
            let line = try tool.run(environment: ProcessInput.environment, show: progressLine())
            try StandardOutput.write(TerminalDoor.line(line) + "\n")
        }
        return true
    }
    /// What stderr shows of how far something is: nothing, where it is no terminal.
    static func progressLine() -> (String) -> Void {
        guard isatty(STDERR_FILENO) == 1 else { return { _ in } }
        return { text in
            // Back to the beginning, the rest of the line removed.
            let line = TerminalDoor.visible(
                [TerminalDoor.carriageReturn] + Array(MessageText.line(text).utf8) + [TerminalDoor.escape]
                    + Array("[K".utf8))
            _ = write(STDERR_FILENO, line, line.count)
        }
    }
}
