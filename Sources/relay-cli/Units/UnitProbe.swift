import RelayCore
import RelayTool
import RelayWire

/// Finds out why a service does not start: from its D-Bus service file, its unit, and the unit's log. Starts nothing.
struct UnitProbe: Sendable {
    let peer: any BusPeer
    /// Whether the service manager on the bus is the one of this user.
    let isUserBus: Bool
    /// Whether the bus runs programs as this user.
    private let runsAsThisUser: Bool
    /// The text of a name's D-Bus service file; nil: it has none that can be read.
    let serviceFile: @Sendable (_ name: String) -> String?
    /// The last line that a unit's own processes have logged; nil: there is none, or this user may not read it.
    let lastLine: @Sendable (_ unit: String, _ isUserUnit: Bool) -> String?
    let programFile: @Sendable (_ path: String) -> ProgramFile
    /// For one question.
    static let timeout = Duration.seconds(2)
    private var timeout: Duration { Self.timeout }

    init(
        peer: any BusPeer, on bus: BusChoice, facts: SystemFacts, serviceFile: @escaping @Sendable (String) -> String?
    ) {
        (self.peer, self.serviceFile) = (peer, serviceFile)
        (lastLine, programFile) = (facts.lastLine, facts.programFile)
        // An address may be that of the system's bus.
        runsAsThisUser = bus != .system && peer.busUser == facts.userID
        isUserBus = bus == .session || bus != .system && (runsAsThisUser || peer.busUser == nil)
    }

    /// What is known of the way by which a bus starts a service.
    enum Report: Equatable, Sendable {
        /// The name has an owner.
        case owned
        /// A unit, and what follows from its state.
        case unit(String, UnitState)
        /// A program that the bus itself runs. nil: the service file names none that can be read.
        case program(StartProgram?)
        case unknown
    }

    func look(_ service: String) -> Report {
        if let call = MethodCall.toBus("GetNameOwner", of: service), (try? peer.ask(call, within: timeout)) != nil {
            return .owned
        }
        guard let file = serviceFile(service).map({ ServiceFile($0) }) else { return .unknown }
        if let unit = file.unit, let state = state(of: unit) { return .unit(unit, state) }
        return .program(StartProgram(file.command, file: programFile))
    }

    // MARK: systemd

    /// nil: no service manager answers on this bus.
    private func state(of unit: String) -> UnitState? {
        do throws(RelayError) {
            guard let call = manager("GetUnit", unit) else { return nil }
            let path = try peer.ask(call, within: timeout).read("o") { try $0.objectPath() }
            return UnitState(unit: properties(path, "Unit"), service: properties(path, "Service"))
        } catch {
            guard (error.cause as? RemoteError)?.name == "org.freedesktop.systemd1.NoSuchUnit" else { return nil }
        }
        // It is not loaded, as nothing has used it since the manager's start. `LoadUnit` would load it.
        guard let call = manager("GetUnitFileState", unit) else { return nil }
        do throws(RelayError) {
            let state = try peer.ask(call, within: timeout).read("s") { try $0.string() }
            return UnitState(load: state.hasPrefix("masked") ? "masked" : "loaded")
        } catch {
            return error.cause is RemoteError && error.code != .notPermitted ? UnitState(load: "not-found") : nil
        }
    }
    private func manager(_ member: String, _ unit: String) -> MethodCall? {
        var body = WireWriter()
        guard (try? body.string(unit)) != nil, let signature = try? Signature("s") else { return nil }
        return MethodCall(
            to: Self.manager, path: "/org/freedesktop/systemd1", interface: "\(Self.manager).Manager", member: member,
            signature: signature, body: body.bytes)
    }
    private static let manager = "org.freedesktop.systemd1"
    private func properties(_ path: String, _ interface: String) -> [String: DBusValue] {
        var body = WireWriter()
        guard BusNames.isObjectPath(path), (try? body.string("\(Self.manager).\(interface)")) != nil,
            let signature = try? Signature("s")
        else { return [:] }
        let call = MethodCall(
            to: Self.manager, path: path, interface: "org.freedesktop.DBus.Properties", member: "GetAll",
            signature: signature, body: body.bytes)
        guard let reply = try? peer.ask(call, within: timeout), reply.signature == "a{sv}",
            case .dictionary(_, let entries)? = try? reply.values().first
        else { return [:] }
        var values: [String: DBusValue] = [:]
        for entry in entries {
            if case .string(let name) = entry.key, case .variant(let value) = entry.value { values[name] = value }
        }
        return values
    }

    // MARK: Words

    /// Why a service cannot start, and what shows more; nil: nothing is known to keep it from starting.
    ///
    /// - Parameter earlier: its unit when the wait began.
    func reason(_ report: Report, since earlier: UnitState? = nil) -> Reason? {
        switch report {
        case .owned, .unknown: return nil
        case .program(let program):
            guard let program, program.cannotRun(asThisUser: runsAsThisUser) else { return nil }
            return Reason(
                text: "the bus would run \(Words.quoted(program.program)), \(program.standing): \(program.commandLine)",
                remedy: program.file == .missing
                    ? "install the program, or correct Exec=" : "make it executable, or correct Exec=")
        case .unit(let unit, let state):
            guard case .fails(let what) = state.verdict(since: earlier) else { return nil }
            var text = "its unit \(unit) \(what)"
            if let program = StartProgram(state.command, file: programFile) {
                text += "; it runs \(Words.quoted(program.program)), \(program.standing): \(program.commandLine)"
            }
            if !state.text.isEmpty { text += "; it reported: \(state.text)" }
            guard state.load == "loaded" else {
                return Reason(text: text, remedy: "see '\(command("systemctl", unit))'")
            }
            let line = lastLine(unit, isUserBus)
            if let line, line != state.text { text += "; its last log line: \(line)" }
            let log = "'\(journal(unit))'" + (line == nil && !isUserBus ? " as root" : "")
            return Reason(text: text, remedy: "see '\(command("systemctl", unit))' and \(log)")
        }
    }
    /// How far the start of a unit is, and what shows more; nil: none is under way.
    func progress(_ report: Report) -> String? {
        guard case .unit(let unit, let state) = report, state.verdict() == .starts else { return nil }
        return "its unit \(unit) is \(state.active) (\(state.sub)); see '\(command("systemctl", unit))'"
    }
    struct Reason: Equatable, Sendable {
        let text: String
        let remedy: String
        var sentence: String { "\(text); \(remedy)" }
    }
    private func command(_ program: String, _ unit: String) -> String {
        "\(program) \(isUserBus ? "--user " : "")status \(Words.quoted(unit))"
    }
    private func journal(_ unit: String) -> String {
        "journalctl \(isUserBus ? "--user " : "")-u \(Words.quoted(unit))"
    }
}
