/// The kinds of names that the D-Bus specification has rules for.
package enum BusNameKind: String, Sendable, CaseIterable {
    /// A unique or a well-known name.
    case busName = "bus name"
    case uniqueName = "unique bus name"
    case wellKnownName = "well-known bus name"
    case objectPath = "object path"
    case interface = "interface name"
    case member = "member name"
    case errorName = "error name"

    var rule: String {
        switch self {
        case .busName: "either ':1.42' or 'org.example.Name1'"
        case .uniqueName: "':', then parts of letters, digits, '_' and '-' with dots between"
        case .wellKnownName:
            "two or more parts with dots between, of letters, digits, '_' and '-', none beginning with a digit"
        case .objectPath: "'/', or parts of letters, digits and '_', with '/' before each"
        case .interface, .errorName:
            "two or more parts with dots between, of letters, digits and '_', none beginning with a digit"
        case .member: "letters, digits and '_', not beginning with a digit"
        }
    }
}
