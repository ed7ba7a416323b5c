import RelayCore
import RelayTool

/// A service's introspection data: its objects, in the order of their paths.
struct Catalogue: Equatable, Sendable {
    struct Entry: Equatable, Sendable {
        let path: String
        let interface: IntrospectedInterface
        /// Whether its object was built with RelayCore.
        let isRelay: Bool
    }
    private(set) var entries: [Entry] = []

    init(_ objects: [(path: String, node: IntrospectedNode)] = []) {
        for object in objects.sorted(by: { $0.path < $1.path }) {
            let isRelay = object.node.interfaces.contains { $0.name == Stream1.name }
            entries += object.node.interfaces.map { Entry(path: object.path, interface: $0, isRelay: isRelay) }
        }
    }

    /// What a RelayCore service offers, without the machinery.
    var offered: [Entry] { entries.filter { $0.isRelay && !Self.isMachinery($0.interface.name) } }

    /// Takes in events that an interface had before, and of which nothing but the name is known here.
    mutating func add(formerEvents names: some Sequence<String>, of interface: String) {
        for index in entries.indices where entries[index].interface.name == interface {
            let entry = entries[index]
            var changed = entry.interface
            let known = Set(changed.events.map(\.name))
            changed.events += Set(names).subtracting(known).sorted().map { IntrospectedEvent(name: $0, arguments: []) }
            entries[index] = Entry(path: entry.path, interface: changed, isRelay: entry.isRelay)
        }
    }

    private static func isMachinery(_ name: String) -> Bool {
        name == Stream1.name || name.hasPrefix("org.freedesktop.DBus.")
    }

    // MARK: Events

    /// The interfaces to follow for these names, each with the events wanted of it: nil for all.
    ///
    /// Throws `.usage` for a name that no interface has.
    func selection(of wanted: [String]) throws(CLIFailure) -> EventSelection {
        var selection = EventSelection()
        if wanted.isEmpty {
            for entry in offered where !entry.interface.events.isEmpty {
                selection.names.updateValue(nil, forKey: entry.interface.name)
            }
            return selection
        }
        for name in wanted {
            var isKnown = false
            for entry in offered {
                for event in entry.interface.events where Self.matches(name, entry.interface.name, event.name) {
                    selection.insert(event.name, of: entry.interface.name)
                    isKnown = true
                }
            }
            guard isKnown else { throw CLIFailure(.usage, unknown("event", name) { $0.events.map(\.name) }) }
        }
        return selection
    }

    // MARK: Commands

    struct Target: Equatable, Sendable {
        let path: String
        let interface: String
        let command: IntrospectedCommand
    }

    /// The command of this name; a qualified name may also be one of the machinery.
    ///
    /// Throws `.usage` if there is none, or more than one.
    func command(_ name: String) throws(CLIFailure) -> Target {
        let candidates = name.contains(".") ? entries.filter(\.isRelay) : offered
        var found: [Target] = []
        for entry in candidates {
            for command in entry.interface.commands where Self.matches(name, entry.interface.name, command.name) {
                found.append(Target(path: entry.path, interface: entry.interface.name, command: command))
            }
        }
        guard let first = found.first else {
            throw CLIFailure(.usage, unknown("command", name) { $0.commands.map(\.name) })
        }
        guard found.count == 1 else {
            let places = Set(found.map { $0.interface + "." + $0.command.name }).sorted()
            throw CLIFailure(
                .usage,
                places.count > 1
                    ? "'\(name)' is a command of more than one interface; say which: \(places.joined(separator: ", "))"
                    : "'\(name)' is a command of more than one object: \(found.map(\.path).joined(separator: ", "))")
        }
        return first
    }

    static func matches(_ wanted: String, _ interface: String, _ member: String) -> Bool {
        wanted == member || (wanted.utf8.count > member.utf8.count && wanted == interface + "." + member)
    }

    func unknown(_ kind: String, _ name: String, _ members: (IntrospectedInterface) -> [String]) -> String {
        var names: [String] = []
        for entry in offered {
            let own = members(entry.interface)
            names += name.contains(".") ? own.map { entry.interface.name + "." + $0 } : own
        }
        let hint = NearMiss.hint(for: name, among: names)
        if !hint.isEmpty { return "no \(kind) '\(name)'" + hint }
        return "no \(kind) '\(name)'"
            + (names.isEmpty
                ? "; the service has no \(kind)s: 'list' shows what it has"
                : kind == "document" && names.count <= Self.listed
                    ? "; there \(names.count == 1 ? "is" : "are") \(Words.list(names))"
                    : "; 'list' shows what there is")
    }
    /// So many documents are named in a message. Of events and commands there are mostly more.
    private static let listed = 4
}

/// Interfaces, and for each the names of the events that are wanted of it; nil for all.
struct EventSelection: Equatable, Sendable {
    var names: [String: Set<String>?] = [:]

    var isEmpty: Bool { names.isEmpty }

    mutating func insert(_ event: String, of interface: String) {
        var known = (names[interface] ?? nil) ?? []
        known.insert(event)
        names.updateValue(known, forKey: interface)
    }
}
