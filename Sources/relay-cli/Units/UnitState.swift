import Glibc
import RelayCore
import RelayTool
import RelayWire

/// What a service manager reports of a unit.
struct UnitState: Equatable, Sendable {
    /// `loaded`, `not-found`, `masked`, `bad-setting` or `error`.
    var load = "loaded"
    /// `active`, `activating`, `deactivating`, `inactive`, `failed` or `reloading`.
    var active = "inactive"
    var sub = "dead"
    /// Why it failed last; `success` if it did not.
    var result = "success"
    /// How its program ended last: 1 by an exit code, 2 and 3 by a signal; and that number.
    var end: (cause: Int32, number: Int32) = (0, 0)
    var restarts: UInt32 = 0
    /// The line that the service has sent last.
    var text = ""
    /// A start or stop is under way.
    var hasJob = false
    /// A condition or an assertion of the unit did not hold when it was last started.
    var failedCheck: String?
    /// The program that it runs, and its arguments; empty where that is not known, or is a file of another root.
    var command: [String] = []

    static func == (one: Self, other: Self) -> Bool {
        one.load == other.load && one.active == other.active && one.sub == other.sub && one.result == other.result
            && one.end == other.end && one.restarts == other.restarts && one.text == other.text
            && one.hasJob == other.hasJob && one.failedCheck == other.failedCheck && one.command == other.command
    }

    /// What follows for a program that waits for the service.
    enum Verdict: Equatable, Sendable {
        case runs
        /// It is on its way, or it is not known yet.
        case starts
        /// It neither runs nor starts, and has not failed.
        case idle
        /// It cannot start now. What the unit does: `has failed: …`.
        case fails(String)
    }

    /// - Parameter earlier: as it was when the wait began; nil: this is the first look.
    func verdict(since earlier: UnitState? = nil) -> Verdict {
        switch load {
        case "not-found": return .fails("does not exist")
        case "masked": return .fails("is masked")
        case "bad-setting", "error": return .fails("cannot be loaded")
        default: break
        }
        switch active {
        case "active", "reloading", "refreshing": return .runs
        // A job that waits may be the next attempt.
        case "failed" where !hasJob: return .fails("has failed: \(reason)")
        case "activating" where sub.hasPrefix("auto-restart") && result != "success":
            return .fails("fails at each start\(attempts): \(reason)")
        case "activating":
            // It has failed meanwhile, and is tried again.
            if let earlier, restarts > earlier.restarts { return .fails("fails at each start\(attempts)") }
            return .starts
        case "inactive" where !hasJob:
            if let failedCheck { return .fails("was not started: \(failedCheck) of it does not hold") }
            return .idle
        default: return .starts
        }
    }
    private var attempts: String {
        restarts == 0 ? "" : " (\(Quantity.count(UInt64(restarts), "restart")))"
    }
    private var reason: String {
        switch result {
        case "exit-code":
            let meaning = Self.meanings[end.number].map { ", \($0)" } ?? ""
            return "exit code \(end.number)\(meaning)"
        case "signal": return "ended by \(signal)"
        case "core-dump": return "ended by \(signal), with a core dump"
        case "watchdog": return "it did not answer the watchdog"
        case "timeout": return "it was not ready in time"
        case "start-limit-hit": return "it failed too often, and is tried no more until 'systemctl reset-failed'"
        case "protocol": return "it ended without becoming ready"
        case "resources": return "the service manager lacked what it needs"
        case "oom-kill": return "memory ran out"
        case "success": return "it ended"
        default: return "result '\(result)'"
        }
    }
    private var signal: String {
        // The text is the library's own, and stays valid until the next call.
        let name = strsignal(end.number).map { " (\(String(cString: $0)))" } ?? ""
        return "signal \(end.number)\(name)"
    }
    /// Those of systemd's own exit codes, before a program runs, that an administrator can change something about.
    private static let meanings: [Int32: String] = [
        200: "its working directory is missing", 203: "its program cannot be executed",
        216: "its group does not exist", 217: "its user does not exist",
        226: "its namespaces cannot be set up", 228: "its filter of system calls cannot be set up",
        238: "its state directory cannot be set up",
    ]
}

extension UnitState {
    /// Reads the properties of the interfaces `Unit` and `Service` of a unit's object.
    init(unit: [String: DBusValue], service: [String: DBusValue]) {
        func text(_ value: DBusValue?) -> String? { if case .string(let text)? = value { text } else { nil } }
        func number(_ value: DBusValue?) -> Int32 { if case .int32(let number)? = value { number } else { 0 } }
        load = text(unit["LoadState"]) ?? load
        active = text(unit["ActiveState"]) ?? active
        sub = text(unit["SubState"]) ?? sub
        if case .structure(let job)? = unit["Job"], case .uint32(let id)? = job.first { hasJob = id != 0 }
        // Neither has a meaning before the first start.
        for (check, word) in [("Condition", "a condition"), ("Assert", "an assertion")] {
            guard case .uint64(let time)? = unit["\(check)TimestampMonotonic"], time > 0,
                unit["\(check)Result"] == .boolean(false)
            else { continue }
            failedCheck = word
        }
        result = text(service["Result"]) ?? result
        end = (number(service["ExecMainCode"]), number(service["ExecMainStatus"]))
        if case .uint32(let count)? = service["NRestarts"] { restarts = count }
        self.text = text(service["StatusText"]) ?? ""
        let hasOwnRoot = ["RootDirectory", "RootImage"].contains { text(service[$0])?.isEmpty == false }
        // The last one is that which failed, or is to run: those before it have ended well.
        if !hasOwnRoot, case .array(_, let commands)? = service["ExecStart"],
            case .structure(let fields)? = commands.last, fields.count > 2, case .string(let path) = fields[0],
            case .array(_, let arguments) = fields[1]
        {
            command = [path] + arguments.dropFirst().compactMap { text($0) }
        }
    }
}
