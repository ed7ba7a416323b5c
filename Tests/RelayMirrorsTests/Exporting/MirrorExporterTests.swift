import RelayCore
import RelayTestKit
import Synchronization
import TestTraits
import Testing

@testable import RelayMirrors

/// A press, a carrier, and exporters of the one to the other.
private struct Export {
    let press: ExportedPress
    let folder: ChannelFolder
    let carrier: FaultyCarrier
    let interface: String

    init(_ interfaces: [any EventInterface.Type] = [Press1.self], _ interface: String = Press1.name) async throws {
        press = try ExportedPress(interfaces)
        folder = try ChannelFolder(service: ExportedPress.service, interface: interface)
        carrier = FaultyCarrier(folder.carrier)
        self.interface = interface
        try await press.start()
    }
    func exporter(
        writer: UInt64 = 7, at host: String = "kitchen", look: Duration = .milliseconds(50)
    ) throws -> MirrorExporter {
        let timing = ExporterTiming {
            $0.firstPause = .milliseconds(1)
            $0.longestPause = .milliseconds(20)
            $0.look = look
        }
        return try MirrorExporter(
            of: ExportedPress.service, at: host, interfaces: [interface], to: carrier, on: press.bus.bus,
            writer: writer, timing: timing)
    }
    func account() async throws -> ChannelAccount { try await ChannelAccount(of: try folder.source()) }
    /// The channel has what the origin has.
    func isDone() async -> Bool {
        guard let head = try? await press.history(of: interface).head, let account = try? await account() else {
            return false
        }
        return account.position == head && account.newest != nil
    }
    /// Runs an exporter while something happens, and until the channel has everything.
    @discardableResult func export(
        _ exporter: MirrorExporter? = nil, while body: () async throws -> Void = {}
    ) async throws -> MirrorExporter {
        let exporter = try exporter ?? self.exporter()
        let task = Task { try await exporter.run() }
        defer { task.cancel() }
        #expect(await eventually { await isDone() }, "\(exporter.status)")
        try await body()
        #expect(await eventually { await isDone() }, "\(exporter.status)")
        task.cancel()
        _ = await task.result
        return exporter
    }
    func check(lost: Set<UInt64> = [], _ what: String = "") async throws {
        let (history, account) = (try await press.history(of: interface), try await account())
        #expect(account.differences(from: history, lost: lost).prefix(5).joined(separator: "; ") == "", "\(what)")
    }
}

@Suite("An exporter of a service's journal", .heavy, .tags(.g2, .g6)) struct MirrorExporterTests {
    @Test("the channel gets what the journal has, and then what comes: events, names, documents, contract")
    func exporting() async throws {
        let export = try await Export()
        try await export.press.print(1_000, size: 600)
        let exporter = try await export.export {
            for _ in 0..<5 { try await export.press.print(3) }
        }
        try await export.check()
        let account = try await export.account()
        #expect(account.snapshots == 1 && account.pages >= 3 && account.missing.isEmpty)
        let status = try #require(exporter.status.first)
        let history = try await export.press.history(of: Press1.name)
        #expect(status.position == history.head && status.lag == 0 && status.events == history.head)
        #expect(status.margin == history.head)
        let (header, snapshot) = try #require(account.newest)
        #expect(header.writer == 7 && header.last == 0 && snapshot.contract.contains("event Printed"))
        #expect(snapshot.documents.map(\.name) == ["Queue"] && snapshot.last.keys.contains("Jammed"))
    }
    @Test("what comes is brought by the ring, and by signals where there is none", arguments: [true, false])
    func live(hasRing: Bool) async throws {
        let interface = hasRing ? Press1.name : Plain1.name
        let export = try await Export([Press1.self, Plain1.self], interface)
        // A look would ask the journal.
        let exporter = try export.exporter(look: .seconds(3_600))
        try await export.export(exporter) {
            for _ in 0..<20 {
                if hasRing { try await export.press.print(1) } else { try await export.press.notePlainly() }
                #expect(await eventually { await export.isDone() }, "\(exporter.status)")
            }
            let transports = await export.press.transports(of: interface)
            #expect(transports["ring"]?.subscribers == (hasRing ? 1 : nil), "\(transports)")
            #expect(transports["signal"]?.subscribers == (hasRing ? 0 : 1), "\(transports)")
            // It has read the last one there.
            if hasRing { #expect(transports["ring"]?.lag == 0, "\(transports)") }
        }
        try await export.check()
    }
    @Test("restarts of the origin: a snapshot for each run, and no gap") func restarts() async throws {
        let export = try await Export()
        try await export.press.print(10)
        try await export.export {
            for _ in 0..<3 {
                try await export.press.restart()
                try await export.press.print(10)
                #expect(await eventually { await export.isDone() })
            }
        }
        // One that nobody exported at that time.
        try await export.press.restart()
        try await export.press.print(1)
        try await export.press.restart()
        try await export.press.print(5)
        try await export.export()
        try await export.check()
        let account = try await export.account()
        #expect(account.newest?.snapshot.table.runs.count == 6 && account.missing.isEmpty)
    }
    @Test("a restored backup, its undoing, and a new journal: the channel leads to what the origin has")
    func restoring() async throws {
        let export = try await Export()
        let press = export.press
        try await press.print(10)
        try await press.stop()
        await press.backUp("early")
        try await press.start()
        let exporter = try export.exporter()
        try await export.export(exporter) {
            try await press.print(10)
            #expect(await eventually { await export.isDone() })
            try await press.stop()
            await press.backUp("late")
            await press.restore("early")
            try await press.start()
            try await press.print(3)
        }
        try await export.check("restored")
        try await export.export {
            try await press.stop()
            await press.restore("late")
            try await press.start()
            try await press.print(2)
        }
        try await export.check("undone")
        try await export.export {
            try await press.stop()
            await press.removeJournal()
            try await press.start()
            try await press.print(4)
        }
        try await export.check("a new journal")
    }
    @Test("what the origin removed before it was exported is a gap, and nothing else is") func retention() async throws
    {
        let export = try await Export([Brief1.self], Brief1.name)
        try await export.press.note(5)
        try await export.export()
        // Retention works in steps.
        #expect(
            try await eventually {
                try await export.press.note(20)
                return try await export.press.history(of: Brief1.name).oldest > 20
            })
        let oldest = try await export.press.history(of: Brief1.name).oldest
        try #require(oldest > 20)
        try await export.export()
        try await export.check(lost: Set(6..<oldest))
        #expect(try await export.account().missing == Set(6..<oldest))
    }
    @Test("an exporter that ends at any call of its carrier, before or behind it: the next one goes on")
    func kills() async throws {
        let export = try await Export()
        try await export.press.print(4)
        // From the first call to the last, until nothing is left to be interrupted.
        for isHeard in [true, false] {
            for call in 1...30 {
                let ends = Mutex<Task<Void, any Error>?>(nil)
                export.carrier.plan { number, _ in
                    guard number == call else { return nil }
                    ends.withLock { $0?.cancel() }
                    return isHeard ? .refused(RelayError(.unavailable, "killed")) : .unheard
                }
                try await export.press.print(2)
                if call % 10 == 9 { try await export.press.restart() }
                let exporter = try export.exporter(writer: UInt64(call) * 2 + (isHeard ? 1 : 0))
                let task = Task { try await exporter.run() }
                ends.withLock { $0 = task }
                #expect(
                    await eventually {
                        let isDone = await export.isDone()
                        return export.carrier.calls >= call || isDone
                    })
                task.cancel()
                _ = await task.result
                export.carrier.plan { _, _ in nil }
            }
        }
        try await export.export()
        try await export.check()
        #expect(try await export.account().missing.isEmpty)
    }
    @Test("answers that are lost, and errors: nothing is missing, and nothing is there twice in a row")
    func answers() async throws {
        let export = try await Export()
        export.carrier.plan { call, append in
            if let append, append % 3 == 1 { return .unheard }
            if append == 8 { return .refused(RelayError(.storageFull, "the disk is full")) }
            return call % 11 == 5 ? .refused(RelayError(.unavailable, "not now")) : nil
        }
        try await export.export {
            for _ in 0..<20 {
                try await export.press.print(5)
                #expect(await eventually { await export.isDone() })
            }
        }
        try await export.check()
        #expect(try await export.account().missing.isEmpty)
    }
    @Test("a carrier that forgets its tail, is an older copy, or was deleted: the journal fills it again")
    func forgetting() async throws {
        let export = try await Export()
        let faults = export.folder.faults
        try await export.press.print(5)
        try await export.export {
            try faults.sync()
            let copy = try faults.copy()
            try await export.press.print(5)
            #expect(await eventually { await export.isDone() })
            try faults.forgetTail()
            #expect(await eventually { await export.isDone() }, "forgotten")
            try await export.check("forgotten")
            try faults.restore(copy)
            #expect(await eventually { await export.isDone() }, "an older copy")
            try await export.check("an older copy")
            try faults.delete()
            #expect(await eventually { await export.isDone() }, "deleted")
            try await export.check("deleted")
            try await export.press.print(5)
        }
        try await export.check()
        // With the run's snapshot.
        try faults.sync()
        try await export.press.restart()
        try await export.press.print(1)
        try await export.export()
        try faults.forgetTail()
        try await export.export()
        try await export.check()
    }
    @Test("foreign messages are passed over, and a snapshot that was removed is renewed") func others() async throws {
        let export = try await Export()
        try await export.press.print(5)
        try await export.export {
            for number in 0..<20 { try export.folder.faults.append([1, 2, 3, UInt8(number)]) }
            try await export.press.print(1)
            #expect(await eventually { await export.isDone() })
            let source = try export.folder.source()
            let newest = try #require(try source.newest(.snapshot))
            try export.folder.faults.remove(through: newest)
            #expect(try await eventually { try source.newest(.snapshot) ?? 0 > newest })
            try await export.press.print(1)
        }
        let account = try await export.account()
        #expect(account.foreign == 20 && account.faults.isEmpty && account.missing.isEmpty)
        try await export.press.print(1)
        try export.folder.faults.append(Array("not the exporter's".utf8))
        try await export.export()
        #expect(try await export.account().missing.isEmpty)
    }
    @Test("there is one exporter of a service: the second one ends, and says what to do") func lock() async throws {
        let export = try await Export()
        try await export.press.print(1)
        try await export.export {
            let second = try export.exporter(writer: 8)
            let error = await #expect(throws: RelayError.self) { try await second.run() }
            #expect(error?.code == .conflict && error?.message.contains("stop that one first") == true)
        }
        try await export.export(try export.exporter(writer: 8))
    }
    @Test("of two exporters of one host name with other histories the older one stops, and names both writers")
    func twoHosts() async throws {
        let (export, other) = (try await Export(), try ExportedPress())
        try await other.start()
        try await export.press.print(3)
        try await other.print(4)
        let older = try export.exporter(writer: 71)
        let task = Task { try await older.run() }
        #expect(await eventually { await export.isDone() })
        let newer = try MirrorExporter(
            of: ExportedPress.service, at: "kitchen", to: export.folder.carrier, on: other.bus.bus, writer: 72)
        let newerTask = Task { try await newer.run() }
        defer { newerTask.cancel() }
        #expect(
            try await eventually {
                let position = try await export.account().position
                return try await other.history(of: Press1.name).head == position
            })
        try await export.press.print(1)
        let error = await #expect(throws: RelayError.self) { try await task.value }
        #expect(error?.code == .conflict)
        #expect(error?.message.contains("71") == true && error?.message.contains("72") == true)
        let account = try await export.account()
        #expect(account.differences(from: try await other.history(of: Press1.name)).isEmpty)
    }
    @Test("the bus, the origin and the carrier may all be away: it waits, and goes on") func away() async throws {
        let export = try await Export()
        try await export.press.stop()
        let exporter = try export.exporter()
        let isAway = Mutex(true)
        export.carrier.plan { _, _ in
            isAway.withLock { $0 } ? .refused(RelayError(.unavailable, "the carrier is away")) : nil
        }
        let task = Task { try await exporter.run() }
        defer { task.cancel() }
        #expect(await eventually { exporter.status.first?.error?.contains("the carrier is away") == true })
        isAway.withLock { $0 = false }
        #expect(await eventually { exporter.status.first?.error?.contains("is not on the bus") == true })
        try await export.press.start()
        try await export.press.print(3)
        #expect(await eventually { await export.isDone() })
        try await export.check()
        #expect(await eventually { exporter.status.first?.error == nil })
    }
    @Test("all durable interfaces of a service, each in its channel; nothing volatile, and no mirror")
    func interfaces() async throws {
        let press = try ExportedPress([Press1.self, Brief1.self, Lamp1.self])
        let folder = try ChannelFolder(service: ExportedPress.service, interface: Press1.name)
        try await press.start()
        try await press.print(3)
        try await press.note(2)
        let exporter = try MirrorExporter(
            of: ExportedPress.service, at: "kitchen", to: folder.carrier, on: press.bus.bus)
        let task = Task { try await exporter.run() }
        #expect(
            await eventually {
                exporter.status.map(\.interface) == [Brief1.name, Press1.name]
                    && exporter.status.allSatisfy { $0.lag == 0 && $0.events > 0 }
            })
        task.cancel()
        _ = await task.result
        #expect(try folder.carrier.channels().map(\.interface) == [Brief1.name, Press1.name])
        for interface in [Brief1.name, Press1.name] {
            let channel = try ChannelName(host: "kitchen", service: ExportedPress.service, interface: interface)
            let account = try await ChannelAccount(of: try folder.carrier.source(of: channel))
            #expect(account.differences(from: try await press.history(of: interface)).isEmpty)
        }
        let volatile = try MirrorExporter(
            of: ExportedPress.service, at: "kitchen", interfaces: [Lamp1.name], to: folder.carrier, on: press.bus.bus)
        let error = await #expect(throws: RelayError.self) { try await volatile.run() }
        #expect(error?.code == .invalidArgument && error?.message.contains("volatile") == true)
        #expect(throws: RelayError.self) {
            try MirrorExporter(
                of: "org.eventrelay.Mirror1.office.org.example.Press", at: "kitchen", to: folder.carrier,
                on: press.bus.bus)
        }
    }
}
