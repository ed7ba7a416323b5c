import Glibc
package import RelayCore

/// Where a service keeps its journal.
package struct StateDirectory: Equatable, Sendable {
    package let path: String
    /// Whether nobody named it: then the folders above it are made, too.
    package let isDefault: Bool

    package init(path: String, isDefault: Bool) { (self.path, self.isDefault) = (path, isDefault) }

    /// The one that was asked for, else systemd's (the first of those that it made), else `relay` in the user's folder
    /// for state.
    ///
    /// Throws `InvalidArgument` with what to do when nothing names one. A relative path in the environment does not
    /// count, as the XDG specification has it.
    package static func find(_ asked: String?, environment: [String: String]) throws(RelayError) -> StateDirectory {
        if let asked { return StateDirectory(path: asked, isDefault: false) }
        func folder(_ name: String) -> String? {
            environment[name].flatMap { $0.hasPrefix("/") ? $0 : nil }
        }
        if let made = folder("STATE_DIRECTORY")?.split(separator: ":").first {
            return StateDirectory(path: String(made), isDefault: false)
        }
        if let state = folder("XDG_STATE_HOME") { return StateDirectory(path: state + "/relay", isDefault: true) }
        if let home = folder("HOME") { return StateDirectory(path: home + "/.local/state/relay", isDefault: true) }
        throw RelayError(
            .invalidArgument,
            "no folder for the journal: none of STATE_DIRECTORY, XDG_STATE_HOME and HOME has an absolute path; name one with "
                + "--state-directory DIR")
    }

    /// Makes it, closed to others, unless it is there. A folder that was named by hand is made only where its parent
    /// exists: a mistyped path must not become an empty journal.
    ///
    /// Throws `Unavailable` with the path, the reason, and the exit code that says whether to start again is of use.
    /// - Returns: whether it was not there.
    @discardableResult
    package func prepare() throws(RelayError) -> Bool {
        if isDefault {
            // The last one is made below. Whatever fails here shows there.
            let parts = path.split(separator: "/").dropLast()
            for end in parts.indices { mkdir("/" + parts[...end].joined(separator: "/"), 0o700) }
        }
        let isMade = mkdir(path, 0o700) == 0
        if !isMade && errno != EEXIST {
            // In a folder that may not be looked into, it may well be there.
            let (cause, barrier) = (SystemError(errno), FileBarrier(before: path))
            throw refusal(barrier == nil ? "cannot be made" : "cannot be used", cause, barrier)
        }
        var status = stat()
        if stat(path, &status) != 0 { throw refusal("cannot be used", SystemError(errno)) }
        guard status.st_mode & S_IFMT == S_IFDIR else { throw refusal("cannot be used", SystemError(ENOTDIR)) }
        if access(path, R_OK | W_OK | X_OK) != 0 {
            let cause = SystemError(errno)
            throw refusal("cannot be used", cause, FileBarrier(before: path, reading: R_OK | W_OK | X_OK))
        }
        return isMade
    }
    private func refusal(_ what: String, _ cause: SystemError, _ barrier: FileBarrier? = nil) -> RelayError {
        let why = barrier.map { "\(cause): \($0)" } ?? "\(cause)"
        return RelayError(
            .unavailable,
            "the state directory \(path) \(what): \(why); \(barrier == nil ? "" : "or ")name another with "
                + "--state-directory DIR",
            cause: cause
        ).exiting(with: (cause.isPassing ? ExitCode.outputFailed : .cannotCreate).rawValue)
    }
}
