import Glibc
import RelayCore
import RelayTool
import Synchronization
import Testing

@testable import relay_cli
import RelayWire

@Suite("The program, without a process of its own")
struct ToolTests {
    private func run(
        _ arguments: String..., environment: [String: String] = Tool.testedEnvironment,
        isThere: Bool = true, events: [Envelope] = [], endsAt lastNote: String? = nil,
        answer: @escaping @Sendable (OutgoingCall) throws -> IncomingReply = { _ in
            IncomingReply(signature: "x", body: Samples.body { $0.int64(3) })
        }
    ) async -> (code: ExitCode, output: String, notes: [String]) {
        let pipe = TestPipe()
        let output = pipe.writing
        let notes = Notes()
        let code = await WaitingThread.run {
            guard let wakeup = try? Wakeup() else { return ExitCode.software }
            let tool = Tool.tested(
                environment: environment, output: output, notes, wakeup: wakeup, endsAt: lastNote
            ) { _, _, _, _, deliver in
                FakeFollowed(FakeService(answer: answer), isThere: isThere, events: events, deliver: deliver)
            }
            return tool.run(arguments)
        }.value
        pipe.closeWriting()
        return (code, String(decoding: await pipe.readAll(), as: UTF8.self), notes.lines.withLock { $0 })
    }

    @Test("a good call prints its reply and nothing else")
    func call() async {
        let result = await run("call", "OrderBox", "label=Kitchen", "capacity=10")
        #expect(result.code == .ok)
        #expect(result.output == "boxID=3\n")
        #expect(result.notes.isEmpty)
    }

    @Test("a refusal, a bad value, a missing service and a missing bus have a message, a code and no output")
    func failures() async {
        let refused = await run("call", "OrderBox", "label=Kitchen", "capacity=10") { _ in
            throw CLIFailure(.refused, "OrderBox: no room (org.eventrelay.Relocation1.Error.NoRoom)")
        }
        #expect(refused.code == .refused && refused.output.isEmpty)
        #expect(refused.notes == ["OrderBox: no room (org.eventrelay.Relocation1.Error.NoRoom)"])
        #expect(await run("call", "OrderBox", "label=Kitchen", "capacity=ten").code == .badValue)
        #expect(await run("list", isThere: false).code == .unavailable)
        #expect(await run("watch", "--no-wait", isThere: false).code == .unavailable)
        let busless = await run("list", environment: [:])
        #expect(busless.code == .unavailable && busless.output.isEmpty && busless.notes.count == 1)
        #expect(await run("wacth").code == .usage)
    }

    @Test("under --json an error is JSON: of a service, of a command line, of a bus")
    func errorsAsJSON() async {
        let refused = await run("--json", "call", "OrderBox", "label=Kitchen", "capacity=10") { _ in
            throw CLIFailure(.refused, "OrderBox: no room", name: "org.eventrelay.Relocation1.Error.NoRoom")
        }
        #expect(refused.code == .refused && refused.output.isEmpty)
        #expect(
            refused.notes == [
                #"{"error":{"code":1,"kind":"refused","message":"OrderBox: no room","#
                    + #""name":"org.eventrelay.Relocation1.Error.NoRoom"}}"#
            ])
        #expect(
            await run("wacth", "--json").notes
                == [#"{"error":{"code":64,"kind":"usage","message":"no command 'wacth'; did you mean 'watch'?"}}"#])
        #expect(await run("wacth", "--", "--json").notes == ["no command 'wacth'; did you mean 'watch'?"])
        #expect(
            await run("list", "--json", isThere: false).notes
                == [#"{"error":{"code":69,"kind":"unavailable","message":"no service"}}"#])
    }

    @Test("what is missing of a command line is reported at once")
    func missing() async {
        #expect(
            await run("call", "OrderBox").notes == [
                "'OrderBox' needs 'label' and 'capacity': label=<string> capacity=<int32>; "
                    + "'call OrderBox --help' explains them"
            ])
        #expect(
            await run("call", "OrderBox", "capacity=5").notes
                == ["'OrderBox' needs 'label': label=<string>; 'call OrderBox --help' explains it"])
        #expect(
            await run("set").notes
                == ["'set' needs DOCUMENT and field=value: set DOCUMENT field=value…; 'help set' explains it"])
        #expect(
            await run("set", "Settings").notes
                == ["'set' needs field=value: set DOCUMENT field=value…; 'help set' explains it"])
    }

    @Test("help needs no bus")
    func help() async {
        let result = await run("watch", "--help", environment: [:])
        #expect(result.code == .ok)
        #expect(result.output == HelpPage.text(of: Watch.declaration, in: Program.declaration))
        #expect(await run("--version", environment: [:]).output == "relay-cli \(Version.current)\n")
    }

    @Test("watch says that it watches, shows what comes, and ends at its count")
    func watch() async throws {
        let events = try [1, 2, 3].map { try Samples.boxProvisioned($0) }
        let result = await run("watch", "BoxProvisioned", "--count", "2", "--json", events: events)
        #expect(result.code == .ok)
        #expect(result.output.split(separator: "\n").count == 2)
        #expect(result.output.contains("\"sequence\":2,"))
    }

    @Test("watch waits for a service, says so, and ends when it is asked to")
    func waits() async {
        let said = "waiting for org.eventrelay.Service1"
        let result = await run("watch", "--for", "3000", isThere: false, endsAt: said)
        #expect(result.code == .ok && result.output.isEmpty)
        #expect(result.notes == [said])
    }

    @Test("watch refuses an event that does not exist")
    func unknownEvent() async {
        let result = await run("watch", "BoxProvisoned")
        #expect(result.code == .usage)
        #expect(result.notes == ["no event 'BoxProvisoned'; did you mean 'BoxProvisioned'?"])
    }
}
