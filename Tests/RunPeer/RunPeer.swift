import Glibc
import RelayCore
import TestSupport

/// Both ends of `Runs1` as processes: `serve --bus ADDRESS` publishes until it is killed, `follow --bus ADDRESS` says what it sees.
/// And the services of `Tally1`, `Blocked1` and `Chain1`: see `TallyPeer`, `BlockedPeer`, `ChainPeer`.
@main struct RunPeer {
    static func main() async throws {
        let options = ProgramOptions(Array(CommandLine.arguments.dropFirst()))
        let bus = Bus.address(options.required("bus"))
        switch CommandLine.arguments.dropFirst().first {
        case "serve": try await serve(bus)
        case "follow": try await follow(bus)
        case "tally":
            let edits = Int64(options.required("edits")) ?? 0
            try await TallyPeer(bus: bus, folder: options.required("state-directory"), edits: edits).run()
        case "blocked": await BlockedPeer.main()
        case "chain": await ChainPeer.main()
        default: exit(64)
        }
    }
    /// Some five thousand events a second: far more than the bus is given. Reports every ring's worth of events.
    private static func serve(_ bus: Bus) async throws {
        let service = try EventService(name: Runs1.service, on: bus, exporting: Runs1.self)
        let run = UInt64.random(in: 1...UInt64.max)
        let publishing = Task.detached {
            var number: UInt64 = 0
            while true {
                for _ in 0..<5 {
                    number += 1
                    if number % UInt64(Runs1.ringCapacity / 64) == 0 { say("published \(number)") }
                    if Runs1.isSpelled(number) {
                        try service.publish(Runs1.Spelled(run: run, number: number))
                    } else {
                        try service.publish(Runs1.Counted(run: run, number: number))
                    }
                }
                try await Task.sleep(for: .milliseconds(1))
            }
        }
        try await service.run { say("ready") }
        publishing.cancel()
    }
    private static func follow(_ bus: Bus) async throws {
        let relay = try EventRelay(following: Runs1.service, on: bus, interfaces: Runs1.self)
        let stream = try relay.events(in: Runs1.self, from: .now)
        relay.activate()
        say("following")
        var account = RunAccount()
        var (told, live) = (0, UInt64(0))
        for await delivery in stream {
            switch delivery {
            case .event(let event, let stamp): account.take(event, stamp)
            case .gap(let gap): account.take(gap)
            }
            for fault in account.faults.dropFirst(told) { say("fault \(fault)") }
            told = account.faults.count
            if let run = account.present, run.events > 0, run.epoch != live {
                live = run.epoch
                if let last = account.former.last {
                    say("run \(last.epoch) end \(last.end) events \(last.events) gaps \(last.gaps)")
                }
                say("live \(live)")
            }
        }
    }
    static func say(_ text: String) {
        var line = text + "\n"
        line.withUTF8 { _ = write(1, $0.baseAddress, $0.count) }
    }
}
