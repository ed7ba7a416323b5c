import BusProcess
import Glibc
import RelayCore
import RelayTestKit

/// A program whose input, output and errors are a terminal: the test is at the other end.
final class ProgramOnTerminal {
    let process: ChildProcess
    /// The test's end, and the program's, which stays open so that its settings can be looked at.
    private let (ours, theirs): (Int32, Int32)
    /// As they were before the program began.
    let settings: termios
    private var bytes: [UInt8] = []

    init(_ path: String, _ arguments: [String], columns: UInt16, rows: UInt16, environment: [String: String]) throws {
        ours = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK)
        // TIOCSPTLCK and TIOCGPTN, which Swift's Glibc leaves out, as it does unlockpt(3) and ptsname(3).
        var (lock, number): (Int32, Int32) = (0, 0)
        guard ours >= 0, ioctl(ours, 0x4004_5431, &lock) == 0, ioctl(ours, 0x8004_5430, &number) == 0 else {
            throw RelayError(.unavailable, "no terminal: \(SystemError(errno))")
        }
        theirs = open("/dev/pts/\(number)", O_RDWR | O_NOCTTY | O_CLOEXEC)
        guard theirs >= 0 else { throw RelayError(.unavailable, "no terminal's end: \(SystemError(errno))") }
        settings = Self.settings(of: theirs)
        Self.resize(ours, columns, rows)
        process = try ChildProcess(
            path, arguments, environment: Programs.environment(environment),
            descriptors: [(theirs, 0), (theirs, 1), (theirs, 2)])
    }
    deinit {
        process.terminate()
        close(ours)
        close(theirs)
    }

    private static func settings(of descriptor: Int32) -> termios {
        var settings = termios()
        tcgetattr(descriptor, &settings)
        return settings
    }
    private static func resize(_ descriptor: Int32, _ columns: UInt16, _ rows: UInt16) {
        var size = winsize(ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0)
        _ = ioctl(descriptor, UInt(TIOCSWINSZ), &size)
    }
    func resize(_ columns: UInt16, _ rows: UInt16) {
        Self.resize(ours, columns, rows)
        process.signal(SIGWINCH)
    }
    func type(_ text: String) { _ = Array(text.utf8).withUnsafeBytes { write(ours, $0.baseAddress, $0.count) } }

    /// Whether keys come one by one, and unseen.
    var isRaw: Bool { Self.settings(of: theirs).c_lflag & tcflag_t(ICANON | ECHO) == 0 }
    /// Whether all is as it was.
    var isRestored: Bool {
        let now = Self.settings(of: theirs)
        return now.c_lflag == settings.c_lflag && now.c_iflag == settings.c_iflag && now.c_oflag == settings.c_oflag
    }
    /// Whether the program stands still, as after ctrl-Z.
    var isStopped: Bool { ProcessState.isStopped(process.processID) }
    /// Whether it takes nothing more until somebody reads.
    var isFull: Bool {
        var room = pollfd(fd: theirs, events: Int16(POLLOUT), revents: 0)
        return poll(&room, 1, 0) == 0
    }
    /// All that was written so far, without carriage returns.
    var text: String {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = read(ours, &buffer, buffer.count)
            if count <= 0 { break }
            bytes += buffer[..<count].filter { $0 != UInt8(ascii: "\r") }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
    /// The lines of the last whole picture, without colours.
    var picture: [String] {
        let pictures = text.components(between: "\u{1B}[H", and: "\u{1B}[J")
        let plain = (pictures.last ?? "").replacing(/\u{1B}\[[0-9;]*[mK]/, with: "")
        return plain.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    }
}

extension String {
    /// What stands between each of the first and the next of the second.
    fileprivate func components(between first: String, and second: String) -> [Substring] {
        var (found, rest) = ([Substring](), self[...])
        while let start = rest.firstRange(of: first) {
            rest = rest[start.upperBound...]
            guard let end = rest.firstRange(of: second) else { break }
            found.append(rest[..<end.lowerBound])
            rest = rest[end.upperBound...]
        }
        return found
    }
}
