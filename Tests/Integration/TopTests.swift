import Glibc
import RelayCore
import RelayTestKit
import TestTraits
import Testing

/// `relay-cli top` and `watch` on a real terminal, with a service that publishes all the time.
@Suite("relay-cli top and watch on a terminal", .heavy) struct TopTests {
    private static let begin = "\u{1B}[?1049h"
    private static let end = "\u{1B}[?25h\u{1B}[?1049l"

    private func start(_ rate: Int) async throws -> (PrivateBus, RunningProgram) {
        let bus = try PrivateBus()
        let service = try RunningProgram(
            Programs.service, ["--bus", bus.address, "--domain", "telemetry", "--rate", "\(rate)"],
            environment: Programs.environment())
        try await service.line(containing: "ready")
        return (bus, service)
    }
    private func onTerminal(
        _ bus: PrivateBus, _ arguments: [String] = ["top"], columns: UInt16 = 100, rows: UInt16 = 30,
        environment: [String: String] = [:]
    ) throws -> ProgramOnTerminal {
        try ProgramOnTerminal(
            Programs.cli, ["--bus", bus.address] + arguments, columns: columns, rows: rows,
            environment: ["TERM": "xterm-256color", "LC_ALL": "C.UTF-8"].merging(environment) { $1 })
    }
    /// What `top` prints of a fifth of a second, once it has this: in so short a time none of it may come.
    private func table(
        _ bus: PrivateBus, with part: String, _ words: [String] = []
    ) async throws -> RunningProgram.Outcome {
        while true {
            let outcome = try await RunningProgram.run(
                Programs.cli, ["--bus", bus.address, "top", "--for", "0.2"] + words,
                environment: Programs.environment())
            if outcome.code != 0 || outcome.output.contains(where: { $0.contains(part) }) { return outcome }
        }
    }
    private func expectRestored(_ top: ProgramOnTerminal, code: Int32 = 0) async {
        let exit = await top.process.waitForExit()
        #expect(exit == .code(code), "\(top.text.suffix(300))")
        #expect(top.isRestored && top.text.hasSuffix(Self.end), "\(top.text.suffix(100).debugDescription)")
    }

    @Test("it draws rates, latencies and sparklines, and 'q' gives the terminal back")
    func drawn() async throws {
        let (bus, service) = try await start(200)
        let top = try onTerminal(bus)
        var picture: [String] = []
        #expect(
            await eventually {
                picture = top.picture
                // The selected row has a mark. A tick may have seen a part of a second, or what two had.
                guard let row = picture.first(where: { $0.hasPrefix("> org.eventrelay.Telemetry1") }) else {
                    return false
                }
                let rate = row.split(separator: " ").dropFirst(2).first.flatMap { Double($0) } ?? 0
                return rate > 10 && rate < 400 && (row.contains("µs") || row.contains("ms"))
                    && picture.contains { $0.contains("CPUSampled") && $0.contains("█") }
            }, "\(top.text)")
        #expect(top.isRaw && top.text.hasPrefix(Self.begin))
        #expect(picture.first?.hasSuffix("q quits") == true && picture.allSatisfy { $0.count <= 100 }, "\(picture)")
        top.type("q")
        await expectRestored(top)
        _ = await service.terminate()
    }
    @Test("keys: help, the subscribers with their programs, a row by itself, another order; at 60 columns, too")
    func keys() async throws {
        let (bus, service) = try await start(50)
        let top = try onTerminal(bus, columns: 60, rows: 24)
        func shows(_ part: String) async {
            #expect(await eventually { top.picture.contains { $0.contains(part) } }, "\(part): \(top.picture)")
        }
        await shows("MemorySampled")
        let heading = try #require(top.picture.first { $0.contains("EVENT") })
        #expect(heading.hasSuffix(" LOST") && heading.contains(" RATE/S "), "\(heading)")
        top.type("?")
        await shows("give the terminal back until 'fg'")
        top.type("\u{1B}")  // Alone: the page before.
        await shows("streams by name")
        top.type("\t")
        await shows("subscribers by lag")
        await shows("relay-cli")
        top.type("\r")
        await shows("subscriber :")
        top.type("1s\u{1B}[B")  // The streams by rate, and an arrow.
        await shows("streams by rate")
        top.type("\n")
        await shows("latency in the last 5 seconds")
        #expect(top.picture.allSatisfy { $0.count <= 60 }, "\(top.picture)")
        top.type("q")
        await expectRestored(top)
        _ = await service.terminate()
    }
    @Test("page and order by options, on a terminal and as a table")
    func options() async throws {
        let (bus, service) = try await start(100)
        let top = try onTerminal(bus, ["top", "--view", "subscribers", "--sort", "name", "--reverse"])
        #expect(
            await eventually { top.picture.contains { $0.contains("subscribers by name, reversed") } }, "\(top.text)")
        top.type("q")
        await expectRestored(top)
        let table = try await table(bus, with: "CPUSampled", ["--view", "streams", "--sort", "rate"])
        #expect(table.code == 0 && !table.output.contains { $0.contains("SUBSCRIBER") }, "\(table)")
        let names = table.output.compactMap { $0.split(separator: " ").first }
        // One processor or more, and their load: whose samples are more than one each is first.
        #expect(names.firstIndex(of: "CPUSampled") != nil && names[1] == "EVENT", "\(table)")
        let others = try await self.table(bus, with: "relay-cli", ["--view", "subscribers"])
        #expect(others.output.contains { $0.contains(":") && $0.contains("relay-cli") }, "\(others)")
        _ = await service.terminate()
    }
    @Test("a signal that ends it gives the terminal back, too", arguments: [SIGINT, SIGTERM, SIGHUP, SIGQUIT])
    func signals(_ number: Int32) async throws {
        let (bus, service) = try await start(50)
        let top = try onTerminal(bus)
        #expect(await eventually { top.picture.contains { $0.contains("LoadSampled") } }, "\(top.text)")
        top.process.signal(number)
        await expectRestored(top)
        _ = await service.terminate()
    }
    @Test("ctrl-Z gives it back, and 'fg' takes it again")
    func stopped() async throws {
        let (bus, service) = try await start(50)
        let top = try onTerminal(bus)
        #expect(await eventually { top.picture.contains { $0.contains("LoadSampled") } }, "\(top.text)")
        top.process.signal(SIGTSTP)
        #expect(await eventually { top.isStopped })
        #expect(top.isRestored && top.text.hasSuffix(Self.end), "\(top.text.suffix(100).debugDescription)")
        top.process.signal(SIGCONT)
        #expect(
            await eventually { top.isRaw && top.text.split(separator: Self.end).last?.contains("\u{1B}[J") == true },
            "\(top.text.suffix(200).debugDescription)")
        top.type("q")
        await expectRestored(top)
        _ = await service.terminate()
    }
    @Test("it follows the terminal's size, down to a few columns")
    func resized() async throws {
        let (bus, service) = try await start(50)
        let top = try onTerminal(bus)
        #expect(await eventually { top.picture.contains { $0.contains("LoadSampled") } }, "\(top.text)")
        for (columns, rows) in [(40, 6), (13, 30), (2, 2), (120, 40)] as [(UInt16, UInt16)] {
            top.resize(columns, rows)
            #expect(
                await eventually {
                    let picture = top.picture
                    return picture.allSatisfy { $0.count <= columns } && picture.count <= rows
                        && (columns < 100 || picture.first?.count == Int(columns))
                }, "\(columns) × \(rows): \(top.picture)")
        }
        top.process.signal(SIGTERM)
        await expectRestored(top)
        _ = await service.terminate()
    }
    @Test("it waits for a service that went away, and shows it again when it is back")
    func serviceGoes() async throws {
        let (bus, service) = try await start(50)
        let top = try onTerminal(bus)
        #expect(await eventually { top.picture.contains { $0.contains("LoadSampled") } }, "\(top.text)")
        _ = await service.terminate()
        #expect(await eventually { top.picture.contains { $0.contains("went away") } }, "\(top.picture)")
        let next = try RunningProgram(
            Programs.service, ["--bus", bus.address, "--domain", "telemetry", "--rate", "50"],
            environment: Programs.environment())
        try await next.line(containing: "ready")
        #expect(await eventually { !top.picture.contains { $0.contains("went away") } }, "\(top.picture)")
        await bus.stop()
        top.type("q")
        await expectRestored(top)
        _ = await next.terminate()
    }
    @Test("a dumb terminal and a pipe get a table of one second, without an escape; other locales no UTF-8")
    func plain() async throws {
        let (bus, service) = try await start(100)
        for environment in [["TERM": "dumb"], ["TERM": "", "LC_ALL": "C"]] {
            var (exit, text) = (ChildProcess.Exit?.none, "")
            repeat {
                let top = try onTerminal(bus, environment: environment)
                (exit, text) = (await top.process.waitForExit(), top.text)
                #expect(exit == .code(0) && !text.contains("\u{1B}"), "\(text)")
                #expect(environment["LC_ALL"] == nil || text.utf8.allSatisfy { $0 < 0x80 }, "\(text)")
            } while exit == .code(0) && !text.contains("CPUSampled")
        }
        let piped = try await table(bus, with: "NetworkSampled")
        #expect(piped.code == 0 && piped.output.contains { $0.contains("NetworkSampled") }, "\(piped)")
        let json = try await table(bus, with: "LoadSampled", ["LoadSampled", "--json"])
        #expect(json.output.contains { $0.contains(#""event":"LoadSampled","rate":"#) }, "\(json)")
        #expect(!json.output.contains { $0.contains("CPUSampled") }, "\(json)")
        _ = await service.terminate()
        let absent = try await RunningProgram.run(
            Programs.cli, ["--bus", bus.address, "top"], environment: Programs.environment())
        #expect(absent.code == 69 && absent.output.isEmpty, "\(absent)")
    }
    @Test("a terminal that takes nothing holds up no end", arguments: ["watch", "top"])
    func stalledTerminal(_ command: String) async throws {
        let (bus, service) = try await start(2_000)
        let program = try onTerminal(
            bus, [command, "--json"].dropLast(command == "top" ? 1 : 0), columns: 250, rows: 60)
        // Nobody reads: some 4 KiB fill it. A watch has written them soon, a top within some seconds.
        #expect(await eventually { program.isFull })
        program.process.signal(SIGTERM)
        let exit = await program.process.waitForExit()
        #expect(exit == .code(0) && program.isRestored)
        _ = await service.terminate()
    }
    @Test("watch shows a terminal some forty lines a second, and how many it skipped")
    func sampledWatch() async throws {
        let (bus, service) = try await start(2_000)
        let watch = try onTerminal(bus, ["watch", "--for", "4"], environment: ["NO_COLOR": "1"])
        #expect(
            await eventually {
                _ = watch.text  // As a terminal does, all the time.
                return watch.process.exit != nil
            })
        let lines = watch.text.split(separator: "\n")
        let shown = lines.count { $0.contains("Sampled ") }
        let skipped = lines.compactMap { $0.firstMatch(of: /… ([0-9,]+) skipped of org.eventrelay.Telemetry1/)?.1 }
            .compactMap { Int($0.filter(\.isNumber)) }
        #expect(shown > 30 && shown < 700 && skipped.count >= 2, "\(lines.suffix(20))")
        #expect(skipped.reduce(0, +) > shown, "\(skipped)")
        _ = await service.terminate()
    }
}
