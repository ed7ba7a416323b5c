import BusProcess
import Glibc
import RelayCore
import RelayTool

/// `--host '*'`: runs the verb once for each mirror on the bus, in a process of its own, and puts the host before each
/// line. A verb that watches goes on with mirrors that come later.
struct HostFan {
    /// One mirror's process, and what it has written.
    private final class Branch {
        let mirror: MirrorName
        let process: ChildProcess
        let reading: Int32
        var line: [UInt8] = []
        init(_ mirror: MirrorName, _ process: ChildProcess, _ reading: Int32) {
            (self.mirror, self.process, self.reading) = (mirror, process, reading)
        }
        deinit { close(reading) }
    }
    /// How often it is looked for new mirrors.
    private static let look = Duration.seconds(2)
    /// A line beyond it is cut: a process that writes none must not fill the memory.
    private static let longest = 16 << 20
    let tool: Tool
    let options: GlobalOptions
    let arguments: [String]
    /// Whether the verb ends when it has answered.
    let isBrief: Bool
    private var output: OutputChannel

    /// - Parameter arguments: as they were typed.
    init(_ tool: Tool, _ options: GlobalOptions, _ arguments: [String], isBrief: Bool) {
        (self.tool, self.options, self.isBrief) = (tool, options, isBrief)
        self.arguments = Self.withoutHost(arguments)
        output = tool.channel
    }
    static func withoutHost(_ arguments: [String]) -> [String] {
        var (rest, isValue, isOver) = ([String](), false, false)
        for word in arguments {
            if isValue {
                isValue = false
            } else if !isOver, word == "--host" {
                isValue = true
            } else if isOver || !word.hasPrefix("--host=") {
                isOver = isOver || word == "--"
                rest.append(word)
            }
        }
        return rest
    }

    /// Returns when the verb has ended at all of them, or the end was asked for.
    mutating func run() throws(CLIFailure) -> ExitCode {
        let bus = try tool.locator.locate(options.bus)
        let stop = try tool.stop()
        var (branches, known, code): ([Branch], Set<MirrorName>, ExitCode) = ([], [], .ok)
        var (isEnding, looks): (Bool, ContinuousClock.Instant) = (false, .now)
        while true {
            if !isEnding, !isBrief || known.isEmpty, .now >= looks {
                looks = .now + Self.look
                for mirror in try mirrors(on: bus) where !known.contains(mirror) {
                    known.insert(mirror)
                    branches.append(try start(mirror))
                }
                if known.isEmpty, isBrief {
                    throw CLIFailure(.unavailable, "there is no mirror on \(Bus(bus)); relay-bridge --mirror makes one")
                }
            }
            if branches.isEmpty, isBrief || isEnding { return code }
            var polls = [pollfd.reading(isEnding ? -1 : stop.descriptor)] + branches.map { .reading($0.reading) }
            Poll.wait(&polls, until: isBrief || isEnding ? nil : looks)
            if polls[0].revents != 0 {
                isEnding = true
                for branch in branches { branch.process.signal(SIGINT) }
            }
            for (branch, poll) in zip(branches, polls.dropFirst()) where poll.revents != 0 {
                if try read(branch) { continue }
                branches.removeAll { $0 === branch }
                let ended = ended(branch)
                if ended != .ok, code == .ok { code = ended }
                // A mirror that is there again is watched again.
                if !isBrief, ended != .usage, ended != .ok { known.remove(branch.mirror) }
            }
        }
    }
    private func mirrors(on bus: BusChoice) throws(CLIFailure) -> [MirrorName] {
        do throws(RelayError) {
            return try tool.mirrors(on: bus, timeout: options.timeout)
                .filter { !options.namesService || $0.service == options.service }
        } catch { throw CLIFailure(ofCall: error) }
    }
    private func start(_ mirror: MirrorName) throws(CLIFailure) -> Branch {
        do {
            let (reading, writing) = try SystemPipe.open()
            defer { close(writing) }
            let process = try ChildProcess(
                "/proc/self/exe",
                ["--host", mirror.host] + (options.namesService ? [] : ["--service", mirror.service]) + arguments,
                descriptors: [(ours: writing, childs: 1), (ours: 2, childs: 2)])
            return Branch(mirror, process, reading)
        } catch {
            throw CLIFailure(
                .software, "cannot start \(mirror)'s part: \((error as? RelayError)?.message ?? "\(error)")")
        }
    }
    /// False: nothing comes any more.
    private mutating func read(_ branch: Branch) throws(CLIFailure) -> Bool {
        var bytes = [UInt8](repeating: 0, count: 64 << 10)
        let count = Glibc.read(branch.reading, &bytes, bytes.count)
        if count < 0 && errno == EINTR { return true }
        for byte in bytes.prefix(max(0, count)) {
            if byte == UInt8(ascii: "\n") {
                show(branch)
            } else if branch.line.count < Self.longest {
                branch.line.append(byte)
            }
        }
        if count <= 0, !branch.line.isEmpty { show(branch) }
        _ = try output.drain()
        return count > 0
    }
    private mutating func show(_ branch: Branch) {
        let (host, line) = (branch.mirror.host, branch.line)
        branch.line = []
        if options.json, line.first == UInt8(ascii: "{") {
            output.pending.append("{\"host\":\"\(host)\"" + (line.count > 2 ? "," : ""))
            output.pending.append(Array(line.dropFirst()))
        } else if !line.isEmpty {
            let column = max(10, host.utf8.count)
            output.pending.append(host + String(repeating: " ", count: column - host.utf8.count + 1))
            output.pending.append(line)
        }
        output.pending.append("\n")
    }
    private func ended(_ branch: Branch) -> ExitCode {
        // It has closed its output, so that its end is near.
        let process = branch.process
        guard case .code(let code)? = try? Waiting.result({ await process.waitForExit() }) else { return .software }
        return ExitCode(rawValue: code) ?? .software
    }
}
