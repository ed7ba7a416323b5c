import BenchSupport
import Foundation

/// iox-roudi, without which no iceoryx program runs. It is stopped while others are measured: it looks around ten times a second.
final class IceoryxDaemon {
    private let process: PeerProcess
    private let log: String
    var processID: pid_t { process.processID }

    /// - Parameter folder: for its log.
    init(configuration: String, folder: String) throws {
        log = "\(folder)/roudi.log"
        // Whatever becomes of this process, none stays behind. Without its monitoring, which would end programs that are stopped.
        process = try PeerProcess(
            "setpriv",
            ["--pdeathsig", "KILL", "iox-roudi", "-m", "off", "-l", "error", "-c", configuration], log: log)
        // It ends at once where another one runs: one serves the whole machine.
        usleep(500_000)
        try check()
        process.signal(SIGSTOP)
    }
    deinit {
        process.end(SIGTERM)
        unlink(log)
    }
    func check() throws {
        guard let code = process.exitCode else { return }
        let words = (try? String(contentsOfFile: log, encoding: .utf8)) ?? ""
        throw BenchError(
            message: "iox-roudi ended with \(code) (is it installed, and does no other one run?): \(words)",
            exitCode: 69)
    }
    func resume() throws {
        try check()
        process.signal(SIGCONT)
    }
    func pause() { process.signal(SIGSTOP) }
}
