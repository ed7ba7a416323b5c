import Glibc

/// A D-Bus bus to connect to.
public struct Bus: Hashable, Sendable, CustomStringConvertible {
    package enum Kind: Hashable, Sendable {
        case session, system, address(String)
        /// A test's bus in the system bus's place.
        case systemAddress(String)
        /// None: messages stay in the process.
        case link(LinkedBus)
    }
    package let kind: Kind

    /// The user's session bus: at `DBUS_SESSION_BUS_ADDRESS`, otherwise at the socket `bus` in `XDG_RUNTIME_DIR`.
    public static let session = Self(kind: .session)
    /// The system bus: at `DBUS_SYSTEM_BUS_ADDRESS`, otherwise at its well-known socket.
    public static let system = Self(kind: .system)
    /// A bus at an address.
    ///
    /// - Parameter address: the address in D-Bus's form: `unix:path=…`.
    public static func address(_ address: String) -> Self { Self(kind: .address(address)) }

    /// A bus at an address that is to be taken for the machine's: a test's.
    package static func system(at address: String) -> Self { Self(kind: .systemAddress(address)) }
    /// Whether it is the machine's, whose peers polkit knows by their names.
    package var isSystem: Bool {
        switch kind {
        case .system, .systemAddress: true
        case .address(let address): (try? Self.system.address()) == address
        // A test of polkit has what answers in its place.
        case .link: true
        case .session: false
        }
    }

    public var description: String {
        switch kind {
        case .session: "the session bus"
        case .system: "the system bus"
        case .address(let address), .systemAddress(let address): "the bus at \(address)"
        case .link: "the bus of a test"
        }
    }

    /// The address to connect to. Throws `Unavailable` when the environment names none.
    package func address() throws(RelayError) -> String { try place().text }
    /// The same, with what names it.
    func place() throws(RelayError) -> BusAddress {
        try place(environment: Self.environment, isSocket: Self.isSocket)
    }
    /// Whether the environment names a session bus.
    package static func hasSession(environment: (String) -> String?, isSocket: (String) -> Bool) -> Bool {
        (try? session.place(environment: environment, isSocket: isSocket)) != nil
    }
    /// The rule, without the process that it is asked for. A variable that is empty counts as one that is not set.
    func place(environment: (String) -> String?, isSocket: (String) -> Bool) throws(RelayError) -> BusAddress {
        func found(_ text: String, _ source: BusAddress.Source) -> BusAddress {
            BusAddress(bus: self, text: text, source: source)
        }
        func named(by name: String) -> BusAddress? {
            environment(name).flatMap { $0.isEmpty ? nil : found($0, .variable(name)) }
        }
        switch kind {
        case .address(let address), .systemAddress(let address): return found(address, .given)
        case .link:
            throw RelayError(.invalidArgument, "the bus of a test has no address: it exists in its process only")
        case .system:
            return named(by: "DBUS_SYSTEM_BUS_ADDRESS")
                ?? found("unix:path=/var/run/dbus/system_bus_socket", .standard)
        case .session:
            if let named = named(by: "DBUS_SESSION_BUS_ADDRESS") { return named }
            // The XDG Base Directory Specification requires that a relative one is ignored.
            if let directory = environment("XDG_RUNTIME_DIR"), directory.hasPrefix("/"), isSocket("\(directory)/bus") {
                return found("unix:path=\(Self.escaped("\(directory)/bus"))", .runtimeDirectory)
            }
            throw RelayError(
                .unavailable,
                "no session bus: DBUS_SESSION_BUS_ADDRESS is not set, and XDG_RUNTIME_DIR has no socket 'bus'; "
                    + "log in to a session, start a bus (dbus-run-session), or name one by its address")
        }
    }

    private static func environment(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }
    private static func isSocket(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFSOCK
    }
    /// A path as a value in an address: D-Bus escapes all but `[-0-9A-Za-z_/.\]`.
    package static func escaped(_ path: String) -> String {
        let digits = Array("0123456789abcdef")
        var escaped = ""
        for byte in path.utf8 {
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: escaped.unicodeScalars.append(Unicode.Scalar(byte))
            case UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "/"), UInt8(ascii: "."), UInt8(ascii: "\\"):
                escaped.unicodeScalars.append(Unicode.Scalar(byte))
            default:
                escaped.append("%")
                escaped.append(digits[Int(byte >> 4)])
                escaped.append(digits[Int(byte & 15)])
            }
        }
        return escaped
    }
}
