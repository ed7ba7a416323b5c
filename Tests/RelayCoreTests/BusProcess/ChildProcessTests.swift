import BusProcess
import Glibc
import RelayTestKit
import TestTraits
import Testing

@testable import RelayCore

@Suite("Child processes", .heavy) struct ChildProcessTests {
    private func shell(
        _ script: String, environment: [String: String]? = nil, descriptors: [(ours: Int32, childs: Int32)] = []
    ) throws -> ChildProcess {
        try ChildProcess("sh", ["-c", script], environment: environment, descriptors: descriptors)
    }
    /// What a script prints.
    private func output(_ script: String, environment: [String: String]? = nil) async throws -> String {
        var ends: [Int32] = [0, 0]
        try #require(pipe(&ends) == 0)
        let child = try shell(script, environment: environment, descriptors: [(ours: ends[1], childs: 1)])
        close(ends[1])
        defer { close(ends[0]) }
        #expect(await child.waitForExit() == .code(0))
        var bytes = [UInt8](repeating: 0, count: 4_096)
        let count = read(ends[0], &bytes, bytes.count)
        return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
    }

    @Test("tells exit codes", arguments: [0, 1, 42, 255] as [Int32]) func codes(code: Int32) async throws {
        let child = try shell("exit \(code)")
        #expect(await child.waitForExit() == .code(code))
        #expect(child.exit == .code(code))
        child.signal(SIGKILL)  // Nobody's number any more: nothing happens.
        #expect(await child.waitForExit() == .code(code))
    }
    @Test("tells signals", arguments: [SIGKILL, SIGTERM, SIGINT, SIGABRT, SIGUSR1]) func signals(signal: Int32)
        async throws
    {
        let child = try shell("kill -\(signal) $$; exit 3")
        #expect(await child.waitForExit() == .signal(signal))
        let sleeping = try ChildProcess("sleep", ["1000"])
        #expect(sleeping.exit == nil)
        sleeping.signal(signal)
        #expect(await sleeping.waitForExit() == .signal(signal))
    }
    @Test("a stopped child hears that it shall end") func stopped() async throws {
        let child = try ChildProcess("sleep", ["1000"])
        child.signal(SIGSTOP)
        #expect(await eventually { (try? ProcessState("/proc/\(child.processID)/stat"))?.isStopped == true })
        child.terminate()
        #expect(await child.waitForExit() == .signal(SIGTERM))
    }
    @Test("ends its child when it is released, and reaps it") func release() async throws {
        var child: ChildProcess? = try ChildProcess("sleep", ["1000"])
        let id = try #require(child?.processID)
        #expect(kill(id, 0) == 0)
        child = nil
        #expect(await eventually { kill(id, 0) != 0 && errno == ESRCH })
    }
    @Test("a program that is not there, or is none, is an error that names it") func errors() throws {
        let missing = #expect(throws: RelayError.self) { try ChildProcess("no-such-program-here", []) }
        #expect(missing?.code == .notFound && missing?.message.contains("no-such-program-here") == true)
        for path in ["/nonexistent/program", "/etc/passwd", "/"] {
            let error = #expect(throws: RelayError.self) { try ChildProcess(path, []) }
            #expect(error?.code == .unavailable && error?.cause is SystemError, "\(path)")
        }
        let many = (0..<17).map { (ours: Int32(1), childs: Int32(10 + $0)) }
        let error = #expect(throws: RelayError.self) { try ChildProcess("true", [], descriptors: many) }
        #expect((error?.cause as? SystemError)?.code == EINVAL)
    }
    @Test("a failed start with the numbers of the pair in the way of its report is still an error")
    func reportedThrough() throws {
        let all = (3..<19).map { (ours: Int32(2), childs: Int32($0)) }
        for base in [0, 16, 32, 48] as [Int32] {
            let pairs = all.map { (ours: $0.ours, childs: $0.childs + base) }
            let error = #expect(throws: RelayError.self) { try ChildProcess("/nonexistent", [], descriptors: pairs) }
            #expect((error?.cause as? SystemError)?.code == ENOENT)
        }
    }
    @Test("gets the descriptors named, swapped ones too, and none beside") func descriptors() async throws {
        var (first, second, stray): ([Int32], [Int32], [Int32]) = ([0, 0], [0, 0], [0, 0])
        try #require(pipe(&first) == 0 && pipe(&second) == 0 && pipe(&stray) == 0)  // None is close-on-exec.
        // By path: a shell's own syntax ends at 9.
        let (one, other) = ("/proc/self/fd/\(second[1])", "/proc/self/fd/\(first[1])")
        let script = "echo first >\(one); echo second >\(other); ls /proc/$$/fd | tr '\\n' ' ' >\(one)"
        let child = try shell(script, descriptors: [(first[1], second[1]), (second[1], first[1])])
        for end in [first[1], second[1], stray[0], stray[1]] { close(end) }
        defer { for end in [first[0], second[0]] { close(end) } }
        #expect(await child.waitForExit() == .code(0))
        func text(_ end: Int32) -> String {
            var bytes = [UInt8](repeating: 0, count: 4_096)
            var text = ""
            while case let count = read(end, &bytes, bytes.count), count > 0 {
                text += String(decoding: bytes.prefix(count), as: UTF8.self)
            }
            return text
        }
        let lines = text(first[0]).split(separator: "\n")
        #expect(lines.first == "first")
        #expect(text(second[0]) == "second\n")
        let open = Set(lines.last?.split(separator: " ").compactMap { Int32($0) } ?? [])
        #expect(open.isSuperset(of: [0, 1, 2, first[1], second[1]]))
        #expect(open.isDisjoint(with: [first[0], second[0], stray[0], stray[1]]))
    }
    @Test("passes arguments and environment as they are") func arguments() async throws {
        #expect(
            try await output("printf %s \"$ODD\"", environment: ["ODD": "a b='c'\n$x", "PATH": "/usr/bin:/bin"])
                == "a b='c'\n$x")
        #expect(try await output("test -n \"$PATH\" && printf yes") == "yes")
    }
    @Test("a child blocks and ignores no signal, whatever its parent does") func signalState() async throws {
        let status = try await output("grep -E '^Sig(Blk|Ign)' /proc/self/status")
        for line in status.split(separator: "\n") {
            let mask = line.split(separator: "\t").last.flatMap { UInt64($0, radix: 16) }
            // 32 and 33 are the C library's own: nobody can set them.
            #expect(mask.map { $0 & ~(3 << 31) } == 0, "\(line)")
        }
        #expect(status.split(separator: "\n").count == 2)
    }
    @Test("many children at once each tell their own end") func many() async throws {
        await withTaskGroup { group in
            for code: Int32 in 0..<40 {
                group.addTask {
                    let child = try? ChildProcess("sh", ["-c", "exit \(code)"])
                    #expect(await child?.waitForExit() == .code(code))
                }
            }
        }
    }
    @Test("a child ends when its parent is killed") func parentKilled() async throws {
        let helper = try await SpawnHelper()
        var ends: [Int32] = [0, 0]
        try #require(pipe(&ends) == 0)
        // The helper starts a `sleep`, prints its number, and waits.
        let parent = try ChildProcess(helper.path, [], descriptors: [(ours: ends[1], childs: 1)])
        close(ends[1])
        defer { close(ends[0]) }
        var bytes = [UInt8](repeating: 0, count: 32)
        let count = read(ends[0], &bytes, bytes.count)
        let text = String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
        let grandchild = try #require(Int32(text.filter(\.isNumber)))
        #expect(kill(grandchild, 0) == 0)
        parent.signal(SIGKILL)
        #expect(await parent.waitForExit() == .signal(SIGKILL))
        // Gone, or dead and not yet reaped by whoever inherited it.
        #expect(await eventually { isDead(grandchild) })
    }
    private func isDead(_ id: Int32) -> Bool {
        guard kill(id, 0) == 0, let file = fopen("/proc/\(id)/stat", "r") else { return true }
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 256)
        let count = fread(&bytes, 1, bytes.count, file)
        let line = String(decoding: bytes.prefix(count), as: UTF8.self)
        return line.isEmpty || line.contains(") Z ")
    }
}
