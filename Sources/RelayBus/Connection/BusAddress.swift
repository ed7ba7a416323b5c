import Glibc

/// Where a bus is, and what says so: for the one who has to mend it when nobody answers there.
struct BusAddress: Equatable {
    enum Source: Equatable {
        /// A variable of the environment, which has the address.
        case variable(String)
        /// `XDG_RUNTIME_DIR`, whose socket it is.
        case runtimeDirectory
        /// The well-known socket.
        case standard
        /// The caller.
        case given
    }
    let bus: Bus
    let text: String
    let source: Source

    /// `the session bus at 'unix:path=/run/bus' (DBUS_SESSION_BUS_ADDRESS)`
    var place: String {
        switch source {
        case .variable(let name): "\(bus) at '\(text)' (\(name))"
        case .runtimeDirectory: "\(bus) at '\(text)' (XDG_RUNTIME_DIR)"
        case .standard: "\(bus) at '\(text)'"
        case .given: "\(bus)"
        }
    }

    /// Nobody answers there, or the address is none.
    func unreachable(_ reason: String) -> String { "no connection to \(place): \(Self.trimmed(reason)); \(advice)" }
    private var advice: String {
        switch source {
        case .variable("DBUS_SYSTEM_BUS_ADDRESS"): "start the system bus, or correct DBUS_SYSTEM_BUS_ADDRESS"
        case .variable(let name): "log in to a session, start a bus (dbus-run-session), or correct \(name)"
        case .runtimeDirectory: "log in to a session, or set DBUS_SESSION_BUS_ADDRESS to the address of a bus"
        case .standard: "start the system bus (systemctl start dbus.socket)"
        case .given: "start a bus there, or correct the address"
        }
    }

    /// The bus answers, but not to this user.
    func refused(_ error: RelayError, userID: UInt32) -> String {
        // Of a call that the end of its connection has ended, the end alone.
        let reason = Self.trimmed((error.cause as? RelayError)?.message ?? error.message)
        switch error.code {
        case .timedOut: return "\(place) does not answer: \(reason); see whether its process is stopped or busy"
        case .limitsExceeded:
            return "\(place) has no room for user \(userID): \(reason); close other connections, or raise its limits"
        default: return "\(place) does not let user \(userID) in: \(reason); \(ownBus)"
        }
    }
    private var ownBus: String {
        switch source {
        case .variable("DBUS_SYSTEM_BUS_ADDRESS"), .standard: "its configuration says who may connect"
        case .variable(let name): "run as the user whose bus it is, or set \(name) to a bus of your own"
        case .runtimeDirectory: "run as the user whose bus it is, or set DBUS_SESSION_BUS_ADDRESS to a bus of your own"
        case .given: "run as the user whose bus it is, or name a bus of your own"
        }
    }
    /// libdbus ends some of its texts with a line's end.
    private static func trimmed(_ text: String) -> String {
        String(text.reversed().drop { $0.isWhitespace }.reversed())
    }
}

extension Bus {
    /// Why the bus did not answer `Hello` with a name.
    func refusal(_ error: RelayError) -> RelayError {
        let code = error.code == .notPermitted ? error.code : .unavailable
        let text = (try? place())?.refused(error, userID: geteuid()) ?? "\(self) does not answer: \(error.message)"
        return RelayError(code, text, cause: error)
    }
}
