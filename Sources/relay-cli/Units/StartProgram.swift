import Glibc
import RelayTool

/// The file of a program, as a start finds it.
enum ProgramFile: Equatable, Sendable {
    case missing
    /// For nobody.
    case notExecutable
    /// Not executable for this user; others may execute it.
    case closed
    case executable

    static func at(_ path: String) -> ProgramFile {
        var status = stat()
        if stat(path, &status) != 0 { return errno == ENOENT || errno == ENOTDIR ? .missing : .closed }
        let executes = S_IXUSR | S_IXGRP | S_IXOTH
        guard status.st_mode & S_IFMT == S_IFREG, status.st_mode & executes != 0 else { return .notExecutable }
        return access(path, X_OK) == 0 ? .executable : .closed
    }
}

/// The program by which a bus or a service manager starts a service.
struct StartProgram: Equatable, Sendable {
    /// The program, and its arguments.
    let words: [String]
    /// nil: the program is not named by its path.
    let file: ProgramFile?

    /// nil: there is no program.
    init?(_ words: [String], file: (String) -> ProgramFile) {
        guard let program = words.first else { return nil }
        self.words = words
        self.file = program.hasPrefix("/") ? file(program) : nil
    }
    var program: String { words[0] }  // There is one: see `init`.
    /// For a shell.
    var commandLine: String { words.map(Words.quoted).joined(separator: " ") }
    /// What is known of its file, as a clause; empty if nothing is.
    var standing: String {
        switch file {
        case .missing: "which does not exist"
        case .notExecutable: "which nobody may execute"
        case .closed: "which this user may not execute"
        case .executable: "which exists and is executable"
        case nil: ""
        }
    }
    /// - Parameter isOwn: whether it would run as this user. Else `User=`, or the unit, names the one who may execute it.
    func cannotRun(asThisUser isOwn: Bool) -> Bool {
        file == .missing || file == .notExecutable || (file == .closed && isOwn)
    }
}

extension StartProgram {
    /// The words of a command line, by the quoting of a shell, as a bus reads `Exec=`. nil: a quotation has no end.
    static func words(of line: String) -> [String]? {
        var (words, word): ([String], String.UnicodeScalarView?) = ([], nil)
        var quote: Unicode.Scalar?
        var isEscaped = false
        for scalar in line.unicodeScalars {
            if isEscaped {
                // Within double quotes, a backslash escapes few characters, and else stands for itself.
                if quote != nil, !"\"\\$`".unicodeScalars.contains(scalar) { word?.append("\\") }
                word = (word ?? .init()) + [scalar]
                isEscaped = false
            } else if scalar == "\\", quote != "'" {
                isEscaped = true
            } else if let open = quote {
                if scalar == open { quote = nil } else { word?.append(scalar) }
            } else if scalar == "'" || scalar == "\"" {
                (quote, word) = (scalar, word ?? .init())
            } else if scalar == " " || scalar == "\t" {
                if let ended = word { words.append(String(ended)) }
                word = nil
            } else {
                word = (word ?? .init()) + [scalar]
            }
        }
        if quote != nil || isEscaped { return nil }
        if let ended = word { words.append(String(ended)) }
        return words
    }
}
