/// The D-Bus specification's rules for names ("Valid Names", "Valid Object Paths"). libdbus aborts on bad ones: check
/// first.
package enum BusNames {
    package static func isValid(_ name: String, as kind: BusNameKind) -> Bool {
        var name = name
        return name.withUTF8 { utf8 in
            let bytes = UnsafeRawBufferPointer(utf8)
            return switch kind {
            case .busName: isUnique(bytes) || isDotted(bytes, allowsHyphen: true)
            case .uniqueName: isUnique(bytes)
            case .wellKnownName: isDotted(bytes, allowsHyphen: true)
            case .objectPath: isObjectPath(bytes)
            case .interface, .errorName: isDotted(bytes, allowsHyphen: false)
            case .member: isMember(bytes)
            }
        }
    }
    package static func isBusName(_ name: String) -> Bool { isValid(name, as: .busName) }
    package static func isUniqueName(_ name: String) -> Bool { isValid(name, as: .uniqueName) }
    package static func isWellKnownName(_ name: String) -> Bool { isValid(name, as: .wellKnownName) }
    package static func isObjectPath(_ path: String) -> Bool { isValid(path, as: .objectPath) }
    package static func isInterface(_ name: String) -> Bool { isValid(name, as: .interface) }
    package static func isMember(_ name: String) -> Bool { isValid(name, as: .member) }
    package static func isErrorName(_ name: String) -> Bool { isValid(name, as: .errorName) }

    /// Throws `.invalidArgument` with the name and the rule.
    package static func check(_ name: String, as kind: BusNameKind) throws(RelayError) {
        if !isValid(name, as: kind) {
            throw RelayError(.invalidArgument, "\(quoted(name)) is no D-Bus \(kind.rawValue): \(kind.rule)")
        }
    }
    /// For messages: at most 100 characters, each plainly visible.
    package static func quoted(_ text: String) -> String {
        let scalars = text.unicodeScalars
        return "'\(scalars.prefix(100).plainlyVisible)\(scalars.dropFirst(100).isEmpty ? "" : "…")'"
    }

    static func isObjectPath(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard bytes.first == slash else { return false }
        if bytes.count == 1 { return true }
        var last = slash
        for byte in bytes.dropFirst() {
            guard byte == slash ? last != slash : isLetter(byte) || isDigit(byte) else { return false }
            last = byte
        }
        return last != slash
    }

    private static let slash = UInt8(ascii: "/")
    private static let dot = UInt8(ascii: ".")

    private static func isLetter(_ byte: UInt8) -> Bool {
        (65...90).contains(byte) || (97...122).contains(byte) || byte == UInt8(ascii: "_")
    }
    private static func isDigit(_ byte: UInt8) -> Bool { (48...57).contains(byte) }

    private static func isMember(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard let first = bytes.first, isLetter(first), bytes.count <= WireLimits.nameLength else { return false }
        return bytes.allSatisfy { isLetter($0) || isDigit($0) }
    }
    private static func isDotted(_ bytes: UnsafeRawBufferPointer, allowsHyphen: Bool) -> Bool {
        hasParts(bytes) { byte, isFirst in
            isLetter(byte) || (isDigit(byte) && !isFirst) || (allowsHyphen && byte == UInt8(ascii: "-"))
        }
    }
    private static func isUnique(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard bytes.first == UInt8(ascii: ":"), bytes.count <= WireLimits.nameLength else { return false }
        return hasParts(UnsafeRawBufferPointer(rebasing: bytes.dropFirst())) { byte, _ in
            isLetter(byte) || isDigit(byte) || byte == UInt8(ascii: "-")
        }
    }
    /// Two or more parts, none empty.
    private static func hasParts(_ bytes: UnsafeRawBufferPointer, _ allows: (UInt8, _ isFirst: Bool) -> Bool) -> Bool {
        guard bytes.count <= WireLimits.nameLength else { return false }
        var (dots, isFirst) = (0, true)
        for byte in bytes {
            if byte == dot {
                if isFirst { return false }
                (dots, isFirst) = (dots + 1, true)
            } else {
                guard allows(byte, isFirst) else { return false }
                isFirst = false
            }
        }
        return dots > 0 && !isFirst
    }
}

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
