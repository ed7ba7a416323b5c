import Glibc
import RelayCore
import RelayTool

/// Decides which bus is meant: what was asked for, else the session bus, else the private bus of
/// `relay-service --own-bus`, else the session bus that has no variable, but its socket in `XDG_RUNTIME_DIR`.
struct BusLocator: Sendable {
    let environment: [String: String]
    let userID: UInt32
    let status: @Sendable (_ path: String) -> FileStatus?

    func locate(_ choice: BusChoice?) throws(CLIFailure) -> BusChoice {
        if let choice { return choice }
        if let address = environment["DBUS_SESSION_BUS_ADDRESS"], !address.isEmpty { return .session }
        var untrusted: String?
        for folder in ownBusFolders {
            guard let found = status(folder.path) else { continue }
            // Anybody who can write there can put a bus of their own in its place.
            guard found.isPrivateFolder(of: userID) else {
                untrusted = untrusted ?? folder.path
                continue
            }
            if status(folder.socket)?.kind == .socket { return .address(folder.address) }
        }
        // As each program of D-Bus finds it where no variable says so: behind `su` and in jobs of cron.
        if Bus.hasSession(environment: { environment[$0] }, isSocket: { status($0)?.kind == .socket }) {
            return .session
        }
        let advice = "start 'relay-service --own-bus', set DBUS_SESSION_BUS_ADDRESS, or give --bus ADDRESS"
        if let untrusted {
            throw CLIFailure(
                .unavailable,
                "no bus: '\(untrusted)' is not used, as it is not a folder of yours that is closed to others (0700); "
                    + advice)
        }
        throw CLIFailure(
            .unavailable,
            "no bus: DBUS_SESSION_BUS_ADDRESS is not set, and XDG_RUNTIME_DIR has no socket 'bus'; " + advice)
    }

    /// Where `relay-service --own-bus` puts its bus, in the order in which it would choose.
    var ownBusFolders: [OwnBusFolder] { OwnBusFolder.candidates(environment: environment, userID: userID) }
}

extension BusLocator {
    /// This process's environment and files.
    static func ofProcess(environment: [String: String]) -> BusLocator {
        BusLocator(environment: environment, userID: geteuid()) { FileStatus(ofFileAt: $0) }
    }
}
