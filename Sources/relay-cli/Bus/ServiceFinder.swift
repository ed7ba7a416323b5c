import RelayCore
import RelayTool
import RelayWire

/// A service that publishes events with Relay.
struct FoundService: Equatable, Sendable {
    let name: String
    /// Else the bus starts it when it is called.
    let isRunning: Bool
    /// Whether it is meant only where it is named, or is the only one: its D-Bus service file says so.
    var isSecondary = false
}

/// Finds the services on a bus that are built with Relay, without starting any.
///
/// A service that runs shows it by its objects, of which one has `org.eventrelay.Stream1`. One that does not run shows
/// it by its D-Bus service file, which has a line `X-Relay=true`, or `X-Relay=secondary`.
struct ServiceFinder {
    /// The reference service, which needs no proof.
    static let standard = "org.eventrelay.Service1"
    /// How long it looks: at first, for somebody waits for the command; then again at what did not answer meanwhile. On a
    /// busy machine that may be the second service, so that the first is not the only one.
    private struct Patience {
        let whole: Duration
        /// For one question: a program that stands still must not use up the whole.
        let round: Duration
        static let first = Self(whole: .milliseconds(600), round: .milliseconds(250))
        static let second = Self(whole: .milliseconds(2_500), round: .seconds(2))
        /// More than a round: what stands still uses that up, and the objects of others are to be asked after it.
        static let again = Self(whole: .seconds(2), round: .seconds(1))
    }
    /// Objects of a name; a service of ours has few, and they are near the root.
    private static let mostObjects = 48

    let peer: any BusPeer
    /// The text of a name's D-Bus service file; nil: it has none that can be read.
    let serviceFile: (String) -> String?
    /// Of `newServices`: the names that need not be asked again, with who had them then.
    private var answered: [String: String] = [:]
    private var late: Set<String> = []

    init(peer: any BusPeer, serviceFile: @escaping (String) -> String?) {
        (self.peer, self.serviceFile) = (peer, serviceFile)
    }

    /// In the order of their names. Throws what keeps it from asking the bus.
    ///
    /// - Parameter patience: for all that it asks; nil: long enough to ask those again that were late.
    func services(within patience: Duration? = nil) throws(RelayError) -> [FoundService] {
        let begin = ContinuousClock.now
        let names = try names(within: patience ?? Patience.first.whole)
        guard let patience else { return look(at: names, within: [.first, .second]).services }
        // Half of it for a program that stands still, and the rest for the objects of the others.
        let rest = Patience(whole: patience - (ContinuousClock.now - begin), round: patience / 2)
        return look(at: names, within: [rest]).services
    }
    /// The mirrors that run, by their names alone: by service, then host.
    func mirrors(within timeout: Duration) throws(RelayError) -> [MirrorName] {
        let mirrors = try names(within: timeout).running.compactMap { MirrorName($0) }
        return mirrors.sorted { ($0.service, $0.host) < ($1.service, $1.host) }
    }
    /// The services among the names that are new since the last time, or have another owner, or did not answer in time.
    mutating func newServices() throws(RelayError) -> [FoundService] {
        let owners = try owners()
        let new = Set(owners.filter { answered[$0.key] != $0.value }.keys)
        let running = new.filter { owners[$0] != Self.nobody }
        let again = running.intersection(late)
        var found = look(
            at: Names(running: running.subtracting(again), startable: new.subtracting(running)),
            within: [.first, .second])
        late = found.late.union(again)
        // Those that stand still delay neither what is found, nor the end for long.
        if found.services.isEmpty && !again.isEmpty {
            let more = look(at: Names(running: again, startable: []), within: [.again])
            found.services = more.services
            late = found.late.union(more.late)
        }
        answered = owners.filter { !late.contains($0.key) }
        return found.services
    }
    /// Whether names that did not answer in time are to be asked again.
    var hasLate: Bool { !late.isEmpty }

    private func look(
        at names: Names, within patiences: [Patience]
    ) -> (services: [FoundService], late: Set<String>) {
        var found = names.running.intersection([Self.standard])
        var late = names.running.subtracting(found)
        for patience in patiences where !late.isEmpty {
            let walk = walk(late, patience)
            found.formUnion(walk.found)
            late = walk.late
        }
        let started = names.startable.filter { $0 == Self.standard || kind(of: $0) != .other }
        func all(_ names: Set<String>, isRunning: Bool) -> [FoundService] {
            names.sorted().map { name in
                // A mirror is meant where its host is named, and a bridge where it is.
                FoundService(
                    name: name, isRunning: isRunning,
                    isSecondary: kind(of: name) == .secondary || MirrorName(name) != nil || name == MirrorName.bridge)
            }
        }
        return (all(found, isRunning: true) + all(started, isRunning: false), late)
    }

    // MARK: Names

    private struct Names {
        var running: Set<String>
        /// Those that do not run.
        var startable: Set<String>
    }
    private func names(within timeout: Duration) throws(RelayError) -> Names {
        let lists = peer.ask([.toBus("ListNames"), .toBus("ListActivatableNames")], within: timeout)
        guard lists.count == 2 else { return Names(running: [], startable: []) }
        let running = Set(try Self.names(lists[0].get()))
        // A bus may refuse it, and what runs can be used all the same.
        let startable = Set((try? Self.names(lists[1].get())) ?? []).subtracting(running)
        return Names(running: running, startable: startable)
    }
    /// In place of the owner of a name that the bus could start.
    private static let nobody = ""
    /// Who has each name. One that left meanwhile is not among them.
    private func owners() throws(RelayError) -> [String: String] {
        let names = try names(within: Patience.second.whole)
        var owners = Dictionary(uniqueKeysWithValues: names.startable.map { ($0, Self.nobody) })
        let running = names.running.compactMap { name in
            MethodCall.toBus("GetNameOwner", of: name).map { (name: name, call: $0) }
        }
        let answers = peer.ask(running.map(\.call), within: Patience.second.whole)
        for (entry, answer) in zip(running, answers) {
            guard case .success(let reply) = answer, let owner = try? reply.read("s", { try $0.string() }) else {
                continue
            }
            owners[entry.name] = owner
        }
        return owners
    }
    private static func names(_ reply: BusReply) throws(RelayError) -> [String] {
        let names = try reply.read("as") { reader in
            var names: [String] = []
            let end = try reader.beginArray(elementAlignment: 4)
            let start = reader.position
            while reader.position < end { names.append(try reader.string()) }
            try reader.endArray(end, elements: start)
            return names
        }
        // They become parts of paths; a bus says what it likes.
        return names.filter {
            !$0.hasPrefix(":") && !$0.hasPrefix("org.freedesktop.") && BusNames.isBusName($0)
        }
    }
    private func kind(of name: String) -> ServiceFile.Kind { serviceFile(name).map { ServiceFile($0).kind } ?? .other }

    // MARK: Objects

    private struct Walk {
        var waiting = ["/"]
        var seen = 0
    }
    /// The names of which an object has `Stream1`, and those that did not answer in time.
    private func walk(_ names: Set<String>, _ patience: Patience) -> (found: Set<String>, late: Set<String>) {
        var walks = Dictionary(uniqueKeysWithValues: names.map { ($0, Walk()) })
        var found: Set<String> = []
        var late: Set<String> = []
        let end = ContinuousClock.now + patience.whole
        while case let rest = end - ContinuousClock.now, rest > .zero {
            var asked: [(name: String, path: String)] = []
            for (name, walk) in walks { for path in walk.waiting { asked.append((name, path)) } }
            if asked.isEmpty { break }
            let calls = asked.map { entry in
                MethodCall(
                    to: entry.name, path: entry.path, interface: "org.freedesktop.DBus.Introspectable",
                    member: "Introspect")
            }
            for name in walks.keys { walks[name]?.waiting = [] }
            for (entry, answer) in zip(asked, peer.ask(calls, within: min(patience.round, rest))) {
                guard walks[entry.name] != nil else { continue }
                guard let node = Self.node(answer) else {
                    // A bus that has no room for it now has it later.
                    if case .failure(let error) = answer, [.timedOut, .limitsExceeded].contains(error.code) {
                        walks[entry.name] = nil
                        late.insert(entry.name)
                    }
                    continue
                }
                if node.interfaces.contains(where: { $0.name == Stream1.name }) {
                    found.insert(entry.name)
                    walks[entry.name] = nil
                    continue
                }
                for child in node.children where walks[entry.name]?.seen ?? 0 < Self.mostObjects {
                    walks[entry.name]?.seen += 1
                    walks[entry.name]?.waiting.append((entry.path == "/" ? "/" : entry.path + "/") + child)
                }
            }
        }
        for (name, walk) in walks where !walk.waiting.isEmpty { late.insert(name) }
        return (found, late)
    }
    private static func node(_ answer: Result<BusReply, RelayError>) -> IntrospectedNode? {
        guard case .success(let reply) = answer, let xml = try? reply.read("s", { try $0.string() }) else { return nil }
        return try? IntrospectionParser.parse(xml)
    }
}

extension ServiceFinder {
    /// The folders of D-Bus service files, as the D-Bus specification lists them.
    static func folders(of bus: BusChoice, environment: [String: String]) -> [String] {
        func folders(_ list: String) -> [String] { list.split(separator: ":").map(String.init) }
        func value(_ name: String) -> String? { environment[name].flatMap { $0.isEmpty ? nil : $0 } }
        let data = folders(value("XDG_DATA_DIRS") ?? "/usr/local/share:/usr/share")
        if bus == .system {
            let folders = ["/etc", "/run", "/usr/local/share", "/usr/share", "/lib"] + data
            return folders.map { $0 + "/dbus-1/system-services" }
        }
        let home = value("XDG_DATA_HOME") ?? value("HOME").map { $0 + "/.local/share" }
        return ([value("XDG_RUNTIME_DIR"), home].compactMap { $0 } + data).map { $0 + "/dbus-1/services" }
    }

    /// The text of a name's D-Bus service file; nil: it has none that can be read.
    static func file(of name: String, on bus: BusChoice, environment: [String: String]) -> String? {
        folders(of: bus, environment: environment).lazy.compactMap { SmallFile.text("\($0)/\(name).service") }.first
    }

    /// Which service is meant where none is named: the only one, apart from secondary ones. Throws `.usage` where there
    /// are several.
    static func choice(of services: [FoundService]) throws(CLIFailure) -> String {
        if services.isEmpty { return standard }
        let primary = services.filter { !$0.isSecondary }
        let meant = primary.isEmpty ? services : primary
        if let only = meant.first, meant.count == 1 { return only.name }
        let names = services.map { $0.name + ($0.isRunning ? "" : " (not running)") }
        throw CLIFailure(
            .usage,
            "there are several services: \(Words.list(names)); name one with --service NAME or in RELAY_SERVICE")
    }
}
