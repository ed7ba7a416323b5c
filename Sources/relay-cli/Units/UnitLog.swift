import BusProcess
import Glibc
import RelayCore

/// The log of a unit, as far as this user may read it.
enum UnitLog {
    /// How long `journalctl` may take, in milliseconds; and how much of a line is of use, in bytes.
    private static let (patience, longest): (Int32, Int) = (2_000, 2_000)

    /// The last line that a unit's own processes have written; nil: there is none, or this user may not read it.
    static func lastLine(of unit: String, isUserUnit: Bool) -> String? {
        let field = isUserUnit ? "_SYSTEMD_USER_UNIT" : "_SYSTEMD_UNIT"
        let arguments = ["--quiet", "--no-pager", "--lines=1", "--output=cat", "\(field)=\(unit)"]
        guard let text = output(of: "journalctl", isUserUnit ? ["--user"] + arguments : arguments) else { return nil }
        return text.split(whereSeparator: \.isNewline).last.map(String.init)
    }

    /// What a program writes to its standard output; nil: it cannot be run, or takes too long.
    static func output(of program: String, _ arguments: [String]) -> String? {
        guard let ends = try? SystemPipe.open() else { return nil }
        defer { close(ends.reading) }
        let nothing = open("/dev/null", O_RDWR | O_CLOEXEC)
        defer { if nothing >= 0 { close(nothing) } }
        let child = try? ChildProcess(
            program, arguments, descriptors: [(nothing, 0), (ends.writing, 1), (nothing, 2)])
        close(ends.writing)
        // Ended with this value, at the latest.
        guard let child else { return nil }
        defer { child.terminate() }
        let deadline = MonotonicClock.deadline(after: .milliseconds(Int(patience)))
        var (bytes, part) = ([UInt8](), [UInt8](repeating: 0, count: longest))
        while bytes.count < longest {
            var waiting = pollfd(fd: ends.reading, events: Int16(POLLIN), revents: 0)
            let ready = poll(&waiting, 1, MonotonicClock.milliseconds(until: deadline))
            if ready < 0 && errno == EINTR { continue }
            if ready <= 0 { return nil }
            let count = read(ends.reading, &part, part.count)
            if count < 0 && errno == EINTR { continue }
            if count <= 0 { break }
            bytes += part.prefix(count)
        }
        return String(decoding: bytes.prefix(longest), as: UTF8.self)
    }
}
