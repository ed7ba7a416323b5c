import Fleet
import FleetViews
import Glibc
import RelayCore

/// The fleet on one screen: `fleet-dashboard [--lines | --once | --log [--host HOST]] [--for SECONDS] [--units COUNT]`.
@main struct FleetDashboard: RelayProgram {
    static func run() async throws {
        let options = try Options(CommandLine.arguments.dropFirst())
        switch options.form {
        case .screen where isatty(STDOUT_FILENO) == 1: try await screen(options)
        case .once: try await once(options)
        case .log: try await log(options)
        default: try await lines(options)
        }
    }

    /// Draws once a second, until it is ended.
    private static func screen(_ options: Options) async throws {
        let watcher = try FleetWatcher(options.units)
        defer { watcher.end() }
        let end = options.duration.map { ContinuousClock.now + $0 }
        func view() -> [FleetView.Line] {
            let size = Screen.size
            return FleetView(width: size.columns, height: size.rows).lines(watcher.model, now: .now)
        }
        Screen.begin()
        while !Task.isCancelled, end.map({ ContinuousClock.now < $0 }) ?? true {
            watcher.tick()
            Screen.draw(view())
            try? await Task.sleep(for: .seconds(1))
        }
        Screen.end()
        // What the last screen has shown stays readable.
        for line in view() { say(line.text) }
        watcher.end()
        say("")
        try conclude(watcher.model)
    }
    /// A table of one second, once all units are heard; or after ten seconds, without those that are not there.
    private static func once(_ options: Options) async throws {
        let watcher = try FleetWatcher(options.units)
        defer { watcher.end() }
        let end = ContinuousClock.now + (options.duration ?? .seconds(10))
        while !watcher.model.allAreHeard, ContinuousClock.now < end {
            try await Task.sleep(for: .milliseconds(100))
            watcher.tick()
        }
        watcher.tick()
        try await Task.sleep(for: .seconds(1))
        watcher.tick()
        for line in FleetView(width: 120, height: .max).lines(watcher.model, now: .now) { print(line.text) }
    }
    /// What happens, a line each: for a log, and where there is no terminal.
    private static func lines(_ options: Options) async throws {
        let watcher = try FleetWatcher(options.units) { say($0.sentence) }
        let end = options.duration.map { ContinuousClock.now + $0 }
        var isToldOfAll = false
        while !Task.isCancelled, end.map({ ContinuousClock.now < $0 }) ?? true {
            watcher.tick()
            let model = watcher.model
            if !isToldOfAll, model.allAreHeard {
                isToldOfAll = true
                let (rings, signals) = (model.count(by: "ring"), model.count(by: "signal"))
                say("All \(model.units.count) units are heard, \(rings) by ring and \(signals) by signals.")
            }
            try? await Task.sleep(for: .milliseconds(100))
        }
        watcher.end()
        try conclude(watcher.model)
    }
    /// What the units have written down: here, or on another host.
    private static func log(_ options: Options) async throws {
        let log = try FleetLog(options.units, at: options.host) { say($0) }
        defer { log.end() }
        // Until it is ended.
        try? await Task.sleep(for: options.duration ?? .seconds(1_000_000_000))
    }
    /// Throws if a sample was counted twice, or neither came nor was named as missing: this never happens.
    private static func conclude(_ model: FleetModel) throws {
        guard model.unaccounted == 0 else {
            throw RelayError(.internalFailure, "\(model.unaccounted) samples came twice, or were not named as missing")
        }
        say("Each sample was counted once, or is named as missing.")
    }
    /// At once, also where the output is no terminal: somebody waits for it.
    private static func say(_ line: String) {
        _ = Array((line + "\n").utf8).withUnsafeBytes { write(STDOUT_FILENO, $0.baseAddress, $0.count) }
    }
}

/// What the command line asks for.
struct Options {
    enum Form { case screen, lines, once, log }
    var form = Form.screen
    var duration: Duration?
    /// Whose log; nil: this one's.
    var host: String?
    var units = FleetUnit.all(10)

    init(_ arguments: ArraySlice<String>) throws {
        var rest = arguments
        while let option = rest.popFirst() {
            switch option {
            case "--lines": form = .lines
            case "--once": form = .once
            case "--log": form = .log
            case "--host": host = rest.popFirst()
            case "--for": duration = .seconds(try Self.number(option, rest.popFirst(), 1...1_000_000))
            case "--units": units = FleetUnit.all(try Self.number(option, rest.popFirst(), 1...100))
            default:
                throw RelayError(
                    .invalidArgument,
                    "no option '\(option)'; usage: fleet-dashboard [--lines | --once | --log [--host HOST]] "
                        + "[--for SECONDS] [--units COUNT]")
            }
        }
        if host != nil && form != .log {
            throw RelayError(
                .invalidArgument, "samples are kept nowhere, and stay on their host: --host goes with --log")
        }
    }
    private static func number(_ option: String, _ text: String?, _ range: ClosedRange<Int>) throws -> Int {
        guard let number = text.flatMap({ Int($0) }), range.contains(number) else {
            throw RelayError(
                .invalidArgument,
                "\(option): '\(text ?? "")' is no number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }
}
