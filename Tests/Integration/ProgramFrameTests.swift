import Glibc
import RelayCore
import RelayTestKit
import TestTraits
import Testing

/// Real processes that are ended, and that fail.
@Suite("A program's frame", .heavy, .tags(.g6, .g8)) struct ProgramFrameTests {
    private func launch(_ arguments: String...) throws -> RunningProgram {
        try RunningProgram(Programs.folder + "/framed-program", arguments, environment: Programs.environment())
    }
    @Test("a signal under load ends it with 0 and `End`", arguments: [SIGTERM, SIGINT, SIGHUP])
    func orderlyEnd(signal: Int32) async throws {
        let bus = try PrivateBus()
        let monitor = try RunningProgram(
            "dbus-monitor",
            ["--address", bus.address, "type='signal',interface='org.eventrelay.Stream1',member='End'"])
        try await monitor.line(containing: "NameLost")
        let program = try launch("--do", "serve", "--bus", bus.address)
        try await program.line(containing: "loaded", count: 4)
        program.signal(signal)
        let outcome = await program.outcome()
        #expect(outcome.code == 0 && outcome.errors.isEmpty, "\(outcome)")
        #expect(outcome.output.last == "finished")
        try await monitor.line(containing: "member=End")
        _ = await monitor.terminate()
    }
    @Test(
        "SIGHUP while the work beside a service ends changes nothing, with a service manager and without",
        arguments: [true, false])
    func hangUpAtEnd(isManaged: Bool) async throws {
        let (bus, folder, socket) = (try PrivateBus(), try TestFolder(), try NotifySocket())
        let program = try RunningProgram(
            Programs.folder + "/framed-program",
            ["--do", "serve-beside", "--bus", bus.address, "--until", folder.path + "/file"],
            environment: Programs.environment(isManaged ? ["NOTIFY_SOCKET": socket.path] : [:]))
        try await program.line(containing: "ready")
        if isManaged {
            program.signal(SIGHUP)
            try await program.line(containing: "reloaded")
            #expect(await eventually { socket.count("READY=1") == 2 })
        }
        program.signal(SIGTERM)
        try await program.line(containing: "ending")
        // Told as soon as the end is decided: the work takes as long as it likes.
        if isManaged { #expect(await eventually { socket.count("STOPPING=1") == 1 }) }
        for _ in 1...3 { program.signal(SIGHUP) }
        // The signals have been taken: none is pending, for the process or for one of its threads.
        #expect(await eventually { !ProcessState.isPending(SIGHUP, of: program.processID) })
        try folder.write("", to: "file")
        let outcome = await program.outcome()
        #expect(outcome.code == 0 && outcome.errors.isEmpty, "\(outcome)")
        #expect(outcome.output == ["ready"] + (isManaged ? ["reloaded"] : []) + ["ending", "ended", "finished"])
        let said = try await socket.settledLines().filter { ["READY=1", "RELOADING=1", "STOPPING=1"].contains($0) }
        #expect(said == (isManaged ? ["READY=1", "RELOADING=1", "READY=1", "STOPPING=1"] : []))
    }
    @Test("an error is one line and a code", arguments: [("Unavailable", 69), ("StorageFull", 74), ("Own", 70)])
    func failure(code: String, expected: Int32) async throws {
        let outcome = await (try launch("--do", "fail", "--code", code)).outcome()
        #expect(outcome.code == expected, "\(outcome)")
        #expect(outcome.errors == [#"framed-program: the first line\u000aand \u001b[31mthe second"#])
        #expect(outcome.output.isEmpty)
    }
    @Test("so is one that the library does not know") func unknownFailure() async throws {
        let outcome = await (try launch("--do", "fail-oddly")).outcome()
        #expect(outcome.code == 70 && outcome.errors == ["framed-program: odd"], "\(outcome)")
    }
    @Test("no bus is an error, not a crash") func noBus() async throws {
        let folder = try TestFolder()
        let outcome = await (try launch("--do", "serve", "--bus", "unix:path=\(folder.path)/none")).outcome()
        #expect(outcome.code == 69 && outcome.errors.count == 1, "\(outcome)")
    }
    @Test("the name of another service is an error, not a crash") func conflict() async throws {
        let bus = try PrivateBus()
        let first = try launch("--do", "serve", "--bus", bus.address)
        try await first.line(containing: "ready")
        let second = await (try launch("--do", "serve", "--bus", bus.address)).outcome()
        #expect(second.code == 75 && second.errors.count == 1, "\(second)")
        #expect(await first.terminate().code == 0)
    }
    @Test("a program that returns ends with 0, and so does one that rethrows its cancellation") func ends() async throws
    {
        #expect(await (try launch("--do", "return")).outcome().code == 0)
        let waiting = try launch("--do", "wait")
        try await waiting.line(containing: "waiting")
        let outcome = await waiting.terminate()
        #expect(outcome.code == 0 && outcome.errors.isEmpty, "\(outcome)")
    }
    @Test("a second signal ends it at once", arguments: [SIGTERM, SIGINT])
    func secondSignal(signal: Int32) async throws {
        let program = try launch("--do", "stay")
        try await program.line(containing: "staying")
        program.signal(SIGHUP)
        try await program.line(containing: "asked")
        // As often as kernel and shell like, and together with another one: they are one request.
        program.signal(SIGHUP)
        // Two of these that come at the same time may count as one.
        #expect(
            await eventually {
                program.signal(signal)
                return program.exit != nil
            })
        #expect(await program.outcome().exit == .code(128 + signal))
    }
    @Test("SIGHUP and another signal at the same time are one request", arguments: [SIGTERM, SIGINT])
    func hangUpToo(signal: Int32) async throws {
        for _ in 1...5 {
            let program = try launch("--do", "wait")
            try await program.line(containing: "waiting")
            // Both wait when it goes on.
            program.signal(SIGSTOP)
            program.signal(SIGHUP)
            program.signal(signal)
            program.signal(SIGCONT)
            let outcome = await program.outcome()
            #expect(outcome.code == 0 && outcome.errors.isEmpty, "\(outcome)")
        }
    }
    @Test("an error whose line nobody can read has its code all the same") func unreadError() async throws {
        let folder = try TestFolder()
        // A FIFO without a reader: what is written to it is a broken pipe.
        let script = """
            mkfifo "$1" && exec 4<>"$1" 5>"$1" 4<&-
            "$0" --do fail --code Unavailable 2>&5
            echo $?
            """
        let program = try RunningProgram(
            "/bin/sh", ["-c", script, Programs.folder + "/framed-program", folder.path + "/fifo"],
            environment: Programs.environment())
        #expect(await program.outcome().output == ["69"])
    }
    @Test("a signal that it was started to ignore stays ignored") func ignored() async throws {
        let program = try RunningProgram(
            "/bin/sh",
            ["-c", "trap '' HUP INT; exec \"$0\" --do wait", Programs.folder + "/framed-program"],
            environment: Programs.environment())
        try await program.line(containing: "waiting")
        program.signal(SIGHUP)
        program.signal(SIGINT)
        let outcome = await program.terminate()
        // Had it taken SIGINT, SIGTERM would have been the second.
        #expect(outcome.code == 0, "\(outcome)")
    }
}
