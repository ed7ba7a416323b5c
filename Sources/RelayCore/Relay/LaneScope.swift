/// Which events of an interface a relay asks the bus for, and so how it can tell that one is missing.
///
/// One name: each event tells its predecessor of the same name. More: all events of the interface come, and their sequences
/// have no holes; what nobody asked for is dropped here. Nothing in between: with some names of many, an event that was lost
/// could show only after later ones of other names had been delivered.
package enum LaneScope: Hashable, Sendable {
    case nothing
    case one(String)
    case all

    /// - Parameter names: nil stands for every event of the interface.
    package init(names: Set<String>?) {
        guard let names else {
            self = .all
            return
        }
        switch names.count {
        case 0: self = .nothing
        case 1: self = names.first.map { .one($0) } ?? .nothing
        default: self = .all
        }
    }
    /// The argument of `Attach`, as far as this room knows it: for `.all` the names are the interface's.
    @inline(__always) func includes(_ name: String) -> Bool {
        switch self {
        case .nothing: false
        case .one(let mine): mine == name
        case .all: true
        }
    }
}
