import Glibc
import RelayCore
import RelaySystemd
import TestSupport

/// A program in the library's frame: `--do serve --bus ADDRESS` publishes as fast as it can; `--do serve-beside --bus ADDRESS
/// --until FILE` has work beside its service, which ends when the file is there; `--do stay` does not heed its end; `--do fail --code CODE` throws; `--do return` returns; `--do wait` waits for its cancellation, and rethrows it;
/// `--do print --bus ADDRESS` prints each entry of a ledger, as README's front end does.
@main struct FramedProgram: RelayProgram {
    static func run() async throws {
        let options = ProgramOptions(CommandLine.arguments)
        switch options.required("do") {
        case "serve": try await serve(.address(options.required("bus")))
        case "serve-beside":
            try await serveBeside(.address(options.required("bus")), until: options.required("until"))
        case "fail":
            throw RelayError(.init(rawValue: options.required("code")), "the first line\nand \u{1B}[31mthe second")
        case "fail-oddly": throw Odd()
        case "stay": await stay()
        case "print": try await printLedger(.address(options.required("bus")))
        case "wait":
            say("waiting")
            try await Task.sleep(for: .seconds(86_400))
        default: break
        }
    }
    private struct Odd: Error, CustomStringConvertible { let description = "odd" }

    private static func serve(_ bus: Bus) async throws {
        let service = try EventService(name: Runs1.service, on: bus, exporting: Runs1.self)
        try await service.start()
        say("ready")
        // The load: several threads that publish as fast as they can, until nothing can be published any more.
        for run: UInt64 in 1...4 {
            Task.detached {
                var number: UInt64 = 0
                while (try? service.publish(Runs1.Counted(run: run, number: number))) != nil {
                    number += 1
                    if number.isMultiple(of: 1_000) { await Task.yield() }
                    if number == 10_000 { say("loaded") }
                }
            }
        }
        try await service.run()
        say("finished")
    }
    private static func serveBeside(_ bus: Bus, until file: String) async throws {
        let service = try EventService(name: Runs1.service, on: bus, exporting: Runs1.self)
        try await service.run(
            under: ServiceManager(), onReady: { say("ready") },
            alongside: {
                do { try await Task.sleep(for: .seconds(86_400)) } catch {
                    say("ending")
                    await Task.detached { while access(file, F_OK) != 0 { usleep(1_000) } }.value
                    say("ended")
                    throw error
                }
            }, onReload: { say("reloaded") })
        say("finished")
    }
    private static func printLedger(_ bus: Bus) async throws {
        let relay = try EventRelay(following: Ledger1.service, on: bus, interfaces: Ledger1.self)
        let ledger = try relay.subscribe(to: Ledger1.Entry.self, from: .resuming("printed")) { event in
            print("entry \(event.number)")
        } onGap: { gap in
            print(gap)
        }
        try await relay.run(keeping: ledger)
    }
    private static func stay() async {
        say("staying")
        await withTaskCancellationHandler {
            // Of a task that nobody cancels.
            await Task.detached { while true { try? await Task.sleep(for: .seconds(86_400)) } }.value
        } onCancel: {
            say("asked")
        }
    }
    private static func say(_ text: String) {
        var line = text + "\n"
        line.withUTF8 { _ = write(1, $0.baseAddress, $0.count) }
    }
}
