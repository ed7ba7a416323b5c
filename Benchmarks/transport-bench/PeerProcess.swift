import BenchSupport
import Foundation

/// A program beside this one, or in PATH. Ends with this value.
final class PeerProcess {
    let name: String
    let processID: pid_t
    private var status: Int32?

    /// - Parameter log: where what it says is added.
    init(_ path: String, _ arguments: [String], log: String) throws {
        name = URL(fileURLWithPath: path).lastPathComponent
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_addopen(&actions, 1, log, O_WRONLY | O_CREAT | O_APPEND, 0o600)
        posix_spawn_file_actions_adddup2(&actions, 1, 2)
        var words: [UnsafeMutablePointer<CChar>?] = ([path] + arguments).map { strdup($0) }
        words.append(nil)
        defer { for word in words { free(word) } }
        var child: pid_t = 0
        let failure = posix_spawnp(&child, path, &actions, nil, words, environ)
        guard failure == 0 else {
            throw BenchError(message: "cannot start \(path): \(String(cString: strerror(failure)))", exitCode: 69)
        }
        processID = child
    }
    deinit { end(SIGKILL) }

    /// Whether it has ended, and how: an exit code, or 128 and the signal.
    var exitCode: Int32? {
        if status == nil {
            var found: Int32 = 0
            if waitpid(processID, &found, WNOHANG) == processID { status = found }
        }
        return status.map { $0 & 0x7F == 0 ? ($0 >> 8) & 0xFF : 128 + ($0 & 0x7F) }
    }
    func signal(_ number: Int32) { if exitCode == nil { kill(processID, number) } }
    /// Ends it, and waits for that; a stopped one is continued to hear it. Kills what does not listen within two seconds.
    func end(_ number: Int32) {
        signal(number)
        signal(SIGCONT)
        for _ in 0..<400 where exitCode == nil { usleep(5_000) }
        signal(SIGKILL)
        while exitCode == nil { usleep(1_000) }
    }
}
