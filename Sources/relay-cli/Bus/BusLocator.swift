import Glibc

/// Decides which bus is meant: what was asked for, else the session bus, else the private bus of
/// `relay-service --own-bus`.
struct BusLocator: Sendable {
    /// What is known of a file, without following a link.
    struct FileStatus: Equatable, Sendable {
        enum Kind: Equatable, Sendable { case folder, socket, other }
        let kind: Kind
        let owner: UInt32
        /// The permission bits.
        let mode: UInt32
    }
    let environment: [String: String]
    let userID: UInt32
    let status: @Sendable (_ path: String) -> FileStatus?

    func locate(_ choice: BusChoice?) throws(CLIFailure) -> BusChoice {
        if let choice { return choice }
        if let address = environment["DBUS_SESSION_BUS_ADDRESS"], !address.isEmpty { return .session }
        var untrusted: String?
        for folder in ownBusFolders {
            guard let found = status(folder) else { continue }
            // Whoever can write there can put a bus of their own in its place.
            guard found.kind == .folder, found.owner == userID, found.mode & 0o077 == 0 else {
                untrusted = untrusted ?? folder
                continue
            }
            let socket = folder + "/bus"
            if status(socket)?.kind == .socket { return .address("unix:path=" + Self.escaped(socket)) }
        }
        let advice = "start 'relay-service --own-bus', set DBUS_SESSION_BUS_ADDRESS, or give --bus ADDRESS"
        if let untrusted {
            throw CLIFailure(
                .unavailable,
                "no bus: '\(untrusted)' is not used, as it is not a folder of yours that is closed to others (0700); "
                    + advice)
        }
        throw CLIFailure(.unavailable, "no bus: DBUS_SESSION_BUS_ADDRESS is not set; " + advice)
    }

    /// Where `relay-service --own-bus` puts its bus, in the order in which it would choose.
    var ownBusFolders: [String] {
        var folders: [String] = []
        if let runtime = environment["XDG_RUNTIME_DIR"], runtime.hasPrefix("/") {
            folders.append(runtime + "/eventrelay")
        }
        let temporary = environment["TMPDIR"].flatMap { $0.hasPrefix("/") ? $0 : nil } ?? "/tmp"
        folders.append(temporary + "/eventrelay-\(userID)")
        return folders
    }

    /// D-Bus specification, "Server addresses": other bytes than these are written %xx.
    static func escaped(_ path: String) -> String {
        var result = ""
        for byte in path.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "/"),
                UInt8(ascii: "."), UInt8(ascii: "*"):
                result.unicodeScalars.append(UnicodeScalar(byte))
            default:
                let digits = String(byte, radix: 16)
                result += "%" + (digits.count == 1 ? "0" : "") + digits
            }
        }
        return result
    }
}

extension BusLocator {
    /// This process's environment and files.
    static func ofProcess(environment: [String: String]) -> BusLocator {
        BusLocator(environment: environment, userID: geteuid()) { path in
            var status = stat()
            guard lstat(path, &status) == 0 else { return nil }
            let kind: FileStatus.Kind =
                switch status.st_mode & S_IFMT {
                case S_IFDIR: .folder
                case S_IFSOCK: .socket
                default: .other
                }
            return FileStatus(kind: kind, owner: status.st_uid, mode: status.st_mode & 0o7777)
        }
    }
}
