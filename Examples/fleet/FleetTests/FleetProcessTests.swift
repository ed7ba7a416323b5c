import Fleet
import FleetViews
import Foundation
import RelayCore
import RelayTestKit
import Synchronization
import Testing

/// A unit as a process of its own, which ends with this value.
private final class UnitProcess {
    private let process = Process()

    init(_ unit: Int, rate: Int, samples: Int, on bus: PrivateBus) throws {
        // The programs are beside the test bundle.
        let bundle = try #require(CommandLine.arguments.first { $0.hasSuffix(".xctest") })
        process.executableURL = URL(fileURLWithPath: bundle).deletingLastPathComponent()
            .appendingPathComponent("fleet-unit")
        process.arguments = ["\(unit)", "\(rate)", "\(samples)"]
        process.environment = ProcessInfo.processInfo.environment.merging(
            ["DBUS_SESSION_BUS_ADDRESS": bus.address]
        ) { $1 }
        try process.run()
    }
    deinit { crash() }

    /// As `kill -9` does it: it can announce nothing.
    func crash() {
        if process.isRunning { kill(process.processIdentifier, SIGKILL) }
        process.waitUntilExit()
    }
}

@Suite("Ten services and a dashboard", .serialized) struct FleetProcessTests {
    private static let samples = 300

    @Test("each sample of ten processes is counted once or named as missing, also when one of them is killed")
    func fleet() async throws {
        let bus = try PrivateBus()
        let news = Mutex<[String]>([])
        let watcher = try FleetWatcher(FleetUnit.all(10), on: bus.bus) { new in
            news.withLock { $0.append(new.sentence) }
        }
        // Unit 3 and unit 4 go on until they are killed: one that sends signals, and one with a ring.
        let victims = [3, 4]
        var units: [UnitProcess] = []
        for index in 0..<10 {
            let samples = victims.contains(index) ? 1_000_000_000 : Self.samples
            units.append(try UnitProcess(index, rate: 500, samples: samples, on: bus))
        }
        #expect(
            await eventually {
                watcher.model.units.allSatisfy { $0.account.ofRun >= UInt64(Self.samples) }
            }, "\(watcher.model.units.map(\.account))")
        #expect(
            await eventually {
                watcher.tick()
                return watcher.model.allAreHeard && watcher.model.count(by: "ring") == 5
                    && watcher.model.count(by: "signal") == 5
            }, "\(watcher.model.units.map(\.transport))")

        for victim in victims {
            units[victim].crash()
            #expect(await eventually { watcher.model.units[victim].state == .away })
            let before = watcher.model.units[victim].account.received
            units[victim] = try UnitProcess(victim, rate: 500, samples: Self.samples, on: bus)
            #expect(
                await eventually {
                    let unit = watcher.model.units[victim]
                    return unit.state == .live && unit.account.openEnds == 1
                        && unit.account.ofRun == UInt64(Self.samples) && unit.account.received > before
                }, "\(watcher.model.units[victim])")
            let heard = news.withLock { $0 }.filter { $0.hasPrefix("Unit \(victim):") }
            #expect(heard.contains { $0.contains("the service's run has ended") }, "\(heard)")
            #expect(heard.last == "Unit \(victim): It is back, and counts from 1.", "\(heard)")
        }
        // The others have seen nothing of it.
        for unit in watcher.model.units {
            #expect(unit.account.ofRun == UInt64(Self.samples), "\(unit.name): \(unit.account)")
            #expect(unit.account.twice == 0 && unit.account.unexplained == 0, "\(unit.name): \(unit.account)")
            #expect(unit.account.misplaced == 0, "\(unit.name): \(unit.account)")
            #expect(unit.account.openEnds == (victims.contains(unit.index) ? 1 : 0), "\(unit.name): \(unit.account)")
        }
        watcher.end()
    }
    @Test("one that is never there is waited for, and a dashboard ends with its relays") func absent() async throws {
        let bus = try PrivateBus()
        let watcher = try FleetWatcher(FleetUnit.all(2), on: bus.bus)
        let unit = try UnitProcess(0, rate: 500, samples: 10, on: bus)
        #expect(await eventually { watcher.model.units[0].account.ofRun == 10 })
        #expect(
            await eventually {
                watcher.tick()
                return watcher.model.units.map(\.state) == [.live, .waiting]
            })
        #expect(!watcher.model.allAreHeard)
        watcher.end()
        unit.crash()
    }
}
