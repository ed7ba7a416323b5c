import RelayCore
import Testing

@testable import relay_cli

@Suite("What watch does")
struct WatchMachineTests {
    private let service = "org.eventrelay.Service1"

    private struct Script {
        var machine: WatchMachine
        var output = ByteBuffer()
        mutating func take(_ input: WatchInput) -> [WatchMachine.Action] {
            machine.take(input, now: 0, output: &output)
        }
        mutating func take(_ catalogue: Catalogue) -> [WatchMachine.Action] {
            machine.take(discovery: .success(catalogue))
        }
    }
    private func script(_ options: WatchOptions = WatchOptions()) -> Script {
        Script(machine: WatchMachine(options, service: service, printer: Samples.printer()))
    }
    private let all = EventSelection(names: ["org.eventrelay.Relocation1": nil])

    @Test("a service that is there is asked what it is, then followed; until then nothing is read")
    func start() throws {
        var script = script()
        #expect(script.machine.isReady)
        #expect(script.take(.state(.active)) == [.discover])
        #expect(!script.machine.isReady)
        #expect(script.take(try Samples.catalogue()) == [.follow(all), .note("watching \(service)")])
        #expect(script.machine.isReady)
        #expect(script.take(.event(try Samples.boxProvisioned(1))) == [])
        #expect(script.output.text.contains("#1 BoxProvisioned boxID=3"))
    }

    @Test("a service that is not there is waited for, and said so")
    func waiting() throws {
        var script = script()
        #expect(script.take(.state(.connecting)) == [.note("waiting for \(service)")])
        #expect(script.take(.state(.active)) == [.discover])
    }

    @Test("with --no-wait its absence is the end, with 69; but once seen, it may come back")
    func noWait() throws {
        var options = WatchOptions()
        options.waitsForService = false
        var absent = script(options)
        guard case .end(let failure)? = absent.take(.state(.connecting)).first else {
            Issue.record("no end")
            return
        }
        #expect(failure?.code == .unavailable)
        #expect(failure?.message.contains("'\(service)'") == true)

        var present = script(options)
        _ = present.take(.state(.active))
        _ = present.take(try Samples.catalogue())
        #expect(present.take(.state(.interrupted)) == [.note("\(service) went away; waiting for it")])
    }

    @Test("a restart is told, the service is asked again, and its events are read as it then describes them")
    func restart() throws {
        var script = script()
        _ = script.take(.state(.active))
        _ = script.take(try Samples.catalogue())
        #expect(script.take(.state(.interrupted)) == [.note("\(service) went away; waiting for it")])
        #expect(script.take(.state(.active)) == [.discover])
        let changed = Catalogue([
            (
                "/org/eventrelay/Relocation1",
                try IntrospectionParser.parse(Samples.relocationXML.replacing("\"title\"", with: "\"label\""))
            )
        ])
        #expect(script.take(changed) == [.follow(all), .note("\(service) is back")])
        _ = script.take(.event(try Samples.boxProvisioned(1)))
        #expect(script.output.text.contains("label=\"Kitchen\""))
    }

    @Test("an unknown event is refused once the service has told what it has")
    func unknownEvent() throws {
        var script = script(WatchOptions(events: ["BoxProvisoned"]))
        _ = script.take(.state(.connecting))
        _ = script.take(.state(.active))
        #expect(
            script.take(try Samples.catalogue())
                == [.end(CLIFailure(.usage, "no event 'BoxProvisoned'; did you mean 'BoxProvisioned'?"))])
        #expect(!script.machine.isReady)
    }

    @Test("a service that comes back without the event is told, not an end")
    func lostEvent() throws {
        var script = script(WatchOptions(events: ["Ping"]))
        _ = script.take(.state(.active))
        _ = script.take(try Samples.catalogue())
        _ = script.take(.state(.interrupted))
        _ = script.take(.state(.active))
        let changed = Catalogue([
            ("/x", try IntrospectionParser.parse(Samples.relocationXML.replacing("\"Ping\"", with: "\"Pong\"")))
        ])
        guard case .note(let note)? = script.take(changed).first else {
            Issue.record("no note")
            return
        }
        #expect(note.contains("no event 'Ping'"))
    }

    @Test("a service that goes while it is asked is waited for; other failures end the first attempt only")
    func failedDiscovery() throws {
        var script = script()
        _ = script.take(.state(.active))
        #expect(script.machine.take(discovery: .failure(CLIFailure(.unavailable, "gone"))) == [])
        #expect(script.machine.isReady)
        _ = script.take(.state(.active))
        let timeout = CLIFailure(.timedOut, "no answer")
        var other = script
        #expect(other.machine.take(discovery: .failure(timeout)) == [.end(timeout)])
        _ = script.take(try Samples.catalogue())
        _ = script.take(.state(.interrupted))
        _ = script.take(.state(.active))
        guard case .note(let note)? = script.machine.take(discovery: .failure(timeout)).first else {
            Issue.record("no note")
            return
        }
        #expect(note.contains("no answer"))
        #expect(script.machine.isReady)
    }

    @Test("--count counts events, not gaps, and ends at its last one")
    func count() throws {
        var script = script(WatchOptions(count: 2))
        _ = script.take(.state(.active))
        _ = script.take(try Samples.catalogue())
        #expect(script.take(.event(try Samples.boxProvisioned(1))) == [])
        #expect(
            script.take(.gap(interface: "org.eventrelay.Relocation1", Gap(2...3, epoch: 1, count: 2, reason: .lost)))
                == [])
        #expect(script.take(.event(try Samples.boxProvisioned(4))) == [.end(nil)])
        #expect(!script.machine.isReady)
        #expect(script.output.text.split(separator: "\n").count == 3)
    }

    @Test("a service without events, and one that is gone for good, end the watch")
    func nothing() throws {
        var empty = script()
        _ = empty.take(.state(.active))
        guard case .end(let failure)? = empty.take(Catalogue()).first else {
            Issue.record("no end")
            return
        }
        #expect(failure?.code == .unavailable)
        var gone = script()
        let reason = CLIFailure(.notPermitted, "no")
        #expect(gone.take(.state(.invalidated(reason))) == [.end(reason)])
    }
}
