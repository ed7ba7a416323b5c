import RelayCore
import RelayTool
import Testing

@testable import relay_cli

@Suite("What top does") struct TopMachineTests {
    private func machine(_ events: [String] = [], waits: Bool = true) -> TopMachine {
        var machine = TopMachine(events: events, service: "a.b", waits: waits)
        let first = machine.start()
        #expect(first == [.discover])
        return machine
    }
    private let gone = CLIFailure(.unavailable, "gone")

    @Test("a service is asked what it is, followed, and asked again when it comes back") func life() throws {
        var machine = machine()
        let all = EventSelection(names: ["org.eventrelay.Relocation1": nil])
        let found = machine.take(.discovered(.found(try Samples.catalogue())))
        #expect(found == [.follow(all)] && !machine.isFollowing && machine.model.notice == nil)
        _ = machine.take(.following)
        #expect(machine.isFollowing)
        let again = machine.take(.state(.active))
        #expect(again.isEmpty)
        _ = machine.take(.state(.interrupted))
        #expect(!machine.isFollowing && machine.model.notice == "a.b went away; waiting for it")
        let back = machine.take(.state(.active))
        let twice = machine.take(.state(.active))
        #expect(back == [.discover] && twice.isEmpty)
        let old = machine.take(.discovered(.failed(gone)))
        #expect(old == [.discover], "it came back meanwhile")
        let failed = machine.take(.discovered(.failed(gone)))
        #expect(failed.isEmpty && machine.model.notice == "gone")
        let outage = machine.take(.outage("no bus"))
        #expect(outage.isEmpty && machine.model.notice == "no bus; trying again")
        let end = machine.take(.state(.invalidated(gone)))
        #expect(end == [.end(gone)])
    }
    @Test("one that came back and answered late is asked with each tick, until it answers or goes") func late() throws {
        var machine = machine()
        func tick() -> [TopMachine.Action] { machine.tick([:], seconds: 1) }
        func take(_ input: TopInput) -> [TopMachine.Action] { machine.take(input) }
        let found = TopInput.discovered(.found(try Samples.catalogue()))
        let all = [TopMachine.Action.follow(EventSelection(names: ["org.eventrelay.Relocation1": nil]))]
        #expect(tick().isEmpty, "it is asked for the first time")
        #expect(take(found) == all && tick().isEmpty)
        #expect(take(.state(.interrupted)).isEmpty && tick().isEmpty, "it is gone")
        #expect(take(.state(.active)) == [.discover] && tick().isEmpty, "it is being asked")
        for _ in 1...2 {
            #expect(take(.discovered(.failed(gone))).isEmpty && machine.model.notice == "gone")
            #expect(tick() == [.discover] && tick().isEmpty)
        }
        #expect(take(found) == all && machine.model.notice == nil && tick().isEmpty)
        _ = take(.state(.interrupted))
        _ = take(.state(.active))
        #expect(take(.discovered(.absent)).isEmpty && tick().isEmpty, "it is not there")
        _ = take(.state(.active))
        _ = take(.state(.interrupted))
        #expect(take(.discovered(.failed(gone))).isEmpty && tick().isEmpty, "it left while it was asked")
    }
    @Test("one that is not there is waited for, unless it was asked not to") func absent() throws {
        var patient = machine()
        let waiting = patient.take(.discovered(.absent))
        #expect(waiting.isEmpty && patient.model.notice == "waiting for a.b")
        var hasty = machine(waits: false)
        let failure = CLIFailure(.unavailable, "its unit has failed")
        let stays = patient.take(.discovered(.cannotStart(failure)))
        #expect(stays.isEmpty)
        #expect(patient.model.notice == "its unit has failed")
        var other = TopMachine(events: [], service: "a.b", waits: false)
        _ = other.start()
        let over = other.take(.discovered(.cannotStart(failure)))
        #expect(over == [.end(failure)])
        let end = hasty.take(.discovered(.absent))
        guard case .end(let failure?)? = end.first else { return #expect(Bool(false), "\(end)") }
        #expect(failure.code == .unavailable)
    }
    @Test("one that comes while it is asked is asked again, whatever the answer of the time before")
    func comesMeanwhile() throws {
        for waits in [true, false] {
            var machine = machine(waits: waits)
            let during = machine.take(.state(.active))
            #expect(during.isEmpty)
            let absent = machine.take(.discovered(.absent))
            #expect(absent == [.discover])
            let found = machine.take(.discovered(.found(try Samples.catalogue())))
            #expect(found == [.follow(EventSelection(names: ["org.eventrelay.Relocation1": nil]))])
        }
    }
    @Test("an event that there is not is a usage error, a service that cannot be understood its failure")
    func refusals() throws {
        var machine = machine(["Nope"])
        let end = machine.take(.discovered(.found(try Samples.catalogue())))
        guard case .end(let failure?)? = end.first else { return #expect(Bool(false), "\(end)") }
        #expect(failure.code == .usage)
        var other = self.machine()
        let failed = other.take(.discovered(.failed(gone)))
        #expect(failed == [.end(gone)])
    }
}
