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
