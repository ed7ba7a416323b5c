import RelayCore
import RelayTool
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
        mutating func take(_ outcome: Discovery.Outcome) -> [WatchMachine.Action] {
            machine.take(discovery: outcome, now: 0, output: &output)
        }
        mutating func take(_ catalogue: Catalogue) -> [WatchMachine.Action] { take(.found(catalogue)) }
        var lines: [Substring] { output.text.split(separator: "\n") }
    }
    /// A watch that has asked for the first time.
    private func script(_ options: Watch = Watch()) -> Script {
        var script = Script(machine: WatchMachine(options, service: service, printer: Samples.printer()))
        #expect(script.machine.start() == [.discover])
        #expect(!script.machine.isReady)
        return script
    }
    private let all = EventSelection(names: ["org.eventrelay.Relocation1": nil])
    private func failure(_ actions: [WatchMachine.Action]) throws -> CLIFailure {
        guard case .end(let failure?)? = actions.first else {
            Issue.record("no failure: \(actions)")
            throw CLIFailure(.software, "")
        }
        return failure
    }

    @Test("a service that is there is asked what it is, then followed; until then nothing is read")
    func start() throws {
        var script = script()
        #expect(script.take(try Samples.catalogue()) == [.follow(all)])
        #expect(script.machine.isReady)
        #expect(script.machine.following() == [.note("watching \(service)")])
        #expect(script.take(.state(.active)) == [], "it has told what it is")
        #expect(script.take(.event(try Samples.boxProvisioned(1))) == [])
        #expect(script.output.text.contains("#1 BoxProvisioned boxID=3"))
    }

    @Test("a service that is not there is waited for, and said so once")
    func waiting() throws {
        var script = script()
        #expect(script.take(.absent) == [.note("waiting for \(service)")])
        #expect(script.machine.isReady)
        #expect(script.take(.state(.active)) == [.discover])
        #expect(script.take(.absent) == [], "it went again before it answered")
        #expect(script.take(.state(.interrupted)) == [])
        #expect(script.take(.state(.active)) == [.discover])
        #expect(script.take(try Samples.catalogue()) == [.follow(all)])
    }

    @Test("a service that cannot start is waited for, with the reason; with --no-wait that is the end")
    func cannotStart() throws {
        let failure = CLIFailure(.unavailable, "its unit has failed")
        var script = script()
        #expect(script.take(.cannotStart(failure)) == [.note("its unit has failed"), .note("waiting for \(service)")])
        #expect(script.take(.state(.active)) == [.discover])
        #expect(script.take(.cannotStart(failure)) == [], "it was said")
        #expect(script.take(.state(.active)) == [.discover])
        #expect(script.take(try Samples.catalogue()) == [.follow(all)])
        #expect(script.take(.state(.interrupted)) == [.note("\(service) went away; waiting for it")])
        #expect(script.take(.state(.active)) == [.discover])
        #expect(script.take(.cannotStart(failure)) == [.note("its unit has failed")])

        var hasty = Watch()
        hasty.waitsForService = false
        var other = self.script(hasty)
        #expect(other.take(.cannotStart(failure)) == [.end(failure)])
    }

    @Test("with --no-wait its absence is the end, with 69; but once seen, it may come back")
    func noWait() throws {
        var options = Watch()
        options.waitsForService = false
        var absent = script(options)
        let failure = try failure(absent.take(.absent))
        #expect(failure.code == .unavailable)
        #expect(failure.message.contains("'\(service)'"))

        var present = script(options)
        _ = present.take(try Samples.catalogue())
        #expect(present.take(.state(.interrupted)) == [.note("\(service) went away; waiting for it")])
        #expect(present.take(.state(.active)) == [.discover])
        #expect(present.take(.absent) == [])
    }

    @Test("a restart is told, the service is asked again, and its events are read as it then describes them")
    func restart() throws {
        var script = script()
        _ = script.take(try Samples.catalogue())
        #expect(script.take(.state(.interrupted)) == [.note("\(service) went away; waiting for it")])
        // The first event of the new run may come before the follower says that it is in step.
        #expect(script.take(.event(try Samples.boxProvisioned(1))) == [.discover])
        #expect(!script.machine.isReady)
        #expect(script.output.text.isEmpty)
        let changed = Catalogue([
            (
                "/org/eventrelay/Relocation1",
                try IntrospectionParser.parse(Samples.relocationXML.replacing("\"title\"", with: "\"label\""))
            )
        ])
        #expect(script.take(changed) == [.follow(all)])
        #expect(script.lines.count == 1 && script.output.text.contains("#1 BoxProvisioned"))
        #expect(script.output.text.contains("label=\"Kitchen\""))
        #expect(script.machine.following() == [.note("\(service) is back")])
        #expect(script.take(.state(.active)) == [])
    }

    @Test("that the bus cannot be reached is said once the service was known; before, the first question fails with it")
    func outage() throws {
        var script = script()
        #expect(script.take(.outage("no connection to the bus at a")) == [])
        _ = script.take(try Samples.catalogue())
        #expect(script.take(.state(.interrupted)) == [.note("\(service) went away; waiting for it")])
        #expect(
            script.take(.outage("no connection to the bus at a"))
                == [.note("no connection to the bus at a; trying again")])
        #expect(script.take(.state(.active)) == [.discover])
    }
    @Test("an event of a service that has gone again is shown all the same")
    func eventOfTheGone() throws {
        var script = script()
        _ = script.take(try Samples.catalogue())
        _ = script.take(.state(.interrupted))
        #expect(script.take(.event(try Samples.boxProvisioned(1))) == [.discover])
        #expect(script.take(.absent) == [])
        #expect(script.lines.count == 1)
    }

    @Test("an unknown event is refused once the service has told what it has, however late it comes")
    func unknownEvent() throws {
        var script = script(Watch(events: ["BoxProvisoned"]))
        _ = script.take(.absent)
        _ = script.take(.state(.active))
        #expect(
            script.take(try Samples.catalogue())
                == [.end(CLIFailure(.usage, "no event 'BoxProvisoned'; did you mean 'BoxProvisioned'?"))])
        #expect(!script.machine.isReady)
    }

    @Test("a service that comes back without the event is told, not an end")
    func lostEvent() throws {
        var script = script(Watch(events: ["Ping"]))
        _ = script.take(try Samples.catalogue())
        _ = script.take(.state(.interrupted))
        _ = script.take(.state(.active))
        let changed = Catalogue([
            ("/x", try IntrospectionParser.parse(Samples.relocationXML.replacing("\"Ping\"", with: "\"Pong\"")))
        ])
        #expect(
            script.take(changed) == [
                .note("\(service) is back, but has changed: no event 'Ping'; did you mean 'Pong'?")
            ])
    }

    @Test("a program without Relay that takes the service's name is reported; it ends a watch only at its beginning")
    func otherMake() throws {
        let other = CLIFailure.notRelay(service)
        var first = script()
        #expect(first.take(.failed(other)) == [.end(other)])
        var later = script()
        _ = later.take(try Samples.catalogue())
        _ = later.take(.state(.interrupted))
        _ = later.take(.state(.active))
        #expect(later.take(.failed(other)) == [.note("\(service) is back, but has changed: \(other.message)")])
    }

    @Test("a failure to ask ends the first attempt; later the watch goes on")
    func failedDiscovery() throws {
        let timeout = CLIFailure(.timedOut, "no answer")
        var first = script()
        #expect(first.take(.failed(timeout)) == [.end(timeout)])
        var later = script()
        _ = later.take(try Samples.catalogue())
        _ = later.take(.state(.interrupted))
        _ = later.take(.state(.active))
        #expect(later.take(.failed(timeout)) == [.note("\(service) does not report what it offers: no answer")])
        #expect(later.take(.event(try Samples.boxProvisioned(1))) == [])
        #expect(later.lines.count == 1)
        // Service or bus went away while it was asked: it is asked again.
        var cut = script()
        _ = cut.take(try Samples.catalogue())
        _ = cut.take(.state(.interrupted))
        _ = cut.take(.state(.active))
        #expect(cut.take(.failed(CLIFailure(.unavailable, "the bus is gone"))) == [])
        #expect(cut.take(.state(.active)) == [.discover])
    }

    @Test("--count counts events, not gaps, and ends at its last one")
    func count() throws {
        var script = script(Watch(count: 2))
        _ = script.take(try Samples.catalogue())
        #expect(script.take(.event(try Samples.boxProvisioned(1))) == [])
        let gap = Gap(2...3, epoch: 1, count: 2, reason: .lost)
        #expect(script.take(.gap(interface: "org.eventrelay.Relocation1", gap)) == [])
        #expect(script.take(.event(try Samples.boxProvisioned(4))) == [.end(nil)])
        #expect(!script.machine.isReady)
        #expect(script.lines.count == 3)
        #expect(script.machine.following() == [], "nothing is announced after the end")
    }

    @Test("a service without events, and one that is gone for good, end the watch")
    func nothing() throws {
        var empty = script()
        #expect(try failure(empty.take(Catalogue())).code == .unavailable)
        var gone = script()
        _ = gone.take(try Samples.catalogue())
        let reason = CLIFailure(.notPermitted, "no")
        #expect(gone.take(.state(.invalidated(reason))) == [.end(reason)])
    }
}
