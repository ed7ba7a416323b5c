import RelayCore
import RelayTool
import RelayWire

/// The names that a service's description may have: what D-Bus's grammar and Relay's schemas permit, and so nothing that could
/// act on a shell or a terminal. `IntrospectionBuilder` makes no value of any other.
///
/// Interfaces, members and paths of other forms are refused with the whole description, without which nothing could be
/// asked for. What only names a part has a name of ours in its place, or none. Sentences stay as they are, and are shown by
/// `SafeText`.
enum CheckedNames {
    /// An argument's name; where it has none that can be used, or has one that another has, one by its place.
    static func argument(_ name: String, at place: Int, after others: [IntrospectedField]) -> String {
        func isFree(_ name: String) -> Bool { !others.contains { $0.name == name } }
        if BusNames.isMember(name) && isFree(name) { return name }
        var counted = "arg\(place)"
        while !isFree(counted) { counted += "_" }
        return counted
    }
    /// The cases of an enum that have names.
    static func cases(_ cases: [WireCase]) -> [WireCase] { cases.filter { BusNames.isMember($0.name) } }
    /// The last part of an error's name.
    static func isRefusal(_ name: String) -> Bool { BusNames.isErrorName("org.example.Error." + name) }
    /// The way to a field in an argument: `size.width`; empty for the argument itself.
    static func isPath(_ path: String) -> Bool {
        path.isEmpty
            || path.split(separator: ".", omittingEmptySubsequences: false).allSatisfy { BusNames.isMember(String($0)) }
    }
}
