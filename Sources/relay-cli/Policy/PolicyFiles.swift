import Glibc
import RelayCore
import RelayTool
import RelayWire

/// Where the rules of a bus are, and who asks.
enum PolicyFiles {
    /// The rules of a bus; nil: its configuration is not known here, not readable, or another user's.
    ///
    /// Which process is the bus, the bus itself says: so only a bus counts that this user or the administrator started,
    /// and only files that these wrote.
    static func policy(of bus: BusChoice, _ peer: any BusPeer) -> BusPolicy? {
        let writers: Set<UInt32> = [0, geteuid()]
        guard let user = peer.busUser, writers.contains(user) else { return nil }
        let commandLine = Self.commandLine(of: peer)
        let path = commandLine.flatMap { configuration(inCommandLine: $0) } ?? standard(bus)
        let reader = PolicyReader(content: { SmallFile.content($0, writtenBy: writers) }, names: names)
        return path.flatMap { reader.policy(at: $0) }
    }
    /// The words of the command line of the process that is the bus; nil: they cannot be read.
    private static func commandLine(of peer: any BusPeer) -> [String]? {
        guard let call = MethodCall.toBus("GetConnectionUnixProcessID", of: "org.freedesktop.DBus"),
            let process = try? peer.ask(call, within: .seconds(1)).read("u", { try $0.uint32() })
        else { return nil }
        return SmallFile.text("/proc/\(process)/cmdline")?.split(separator: "\0").map(String.init)
    }
    /// The configuration file that the command line of a `dbus-daemon` names; nil: it is of another program.
    static func configuration(inCommandLine words: [String]) -> String? {
        guard let program = words.first?.split(separator: "/").last, program.hasPrefix("dbus-daemon") else {
            return nil
        }
        for (index, word) in words.enumerated() {
            if word.hasPrefix("--config-file=") { return String(word.dropFirst("--config-file=".count)) }
            if word == "--config-file", index + 1 < words.count { return words[index + 1] }
            if word == "--session" { return standard(.session) }
            if word == "--system" { return standard(.system) }
        }
        return nil
    }
    private static func standard(_ bus: BusChoice) -> String? {
        switch bus {
        case .session: "/usr/share/dbus-1/session.conf"
        case .system: "/usr/share/dbus-1/system.conf"
        case .address: nil
        }
    }
    private static func names(in folder: String, most: Int) -> [String] {
        guard let directory = opendir(folder) else { return [] }
        defer { closedir(directory) }
        var names: [String] = []
        while names.count < most, let entry = readdir(directory) {
            // The kernel ends the name by a zero, within the entry.
            names.append(
                withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                    pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
                })
        }
        return names
    }
}

extension UserGroup {
    /// A group by its name, or by its number; nil: this system has none.
    static func named(_ title: String) -> UserGroup? {
        guard isNumber(title) else { return UserGroup(getgrnam(title)) }
        return UInt32(title).flatMap { UserGroup(getgrgid($0)) }
    }
    private init?(_ entry: UnsafeMutablePointer<group>?) {
        guard let entry, let name = entry.pointee.gr_name else { return nil }
        // The result is valid until the next look-up: everything is copied here.
        self.init(number: entry.pointee.gr_gid, name: String(cString: name))
    }
}

extension UserAccount {
    /// The user of this process.
    static func ofProcess() -> UserAccount {
        let user = geteuid()
        let entry = getpwuid(user)
        // The result is valid until the next look-up: everything is copied here.
        let name = entry.flatMap { $0.pointee.pw_name }.map { String(cString: $0) }
        var account = UserAccount(userID: user, userName: name)
        var own = [gid_t](repeating: 0, count: 65_536)
        let count = getgroups(Int32(own.count), &own)
        account.groups = titles(of: [getegid()] + own.prefix(max(0, Int(count))))
        if let name, let group = entry?.pointee.pw_gid {
            var (login, size) = ([gid_t](repeating: 0, count: 65_536), Int32(65_536))
            if getgrouplist(name, group, &login, &size) >= 0 {
                account.groupsAtLogin = titles(of: login.prefix(max(0, Int(size))))
            }
        }
        return account
    }
    private static func titles(of groups: some Sequence<gid_t>) -> Set<String> {
        var titles: Set<String> = []
        for group in groups {
            titles.insert("\(group)")
            if let name = getgrgid(group)?.pointee.gr_name { titles.insert(String(cString: name)) }
        }
        return titles
    }
}
