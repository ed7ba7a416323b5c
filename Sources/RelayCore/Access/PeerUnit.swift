import Glibc

/// The unit of the system's systemd that a peer's process belongs to.
package enum PeerUnit: Hashable, Sendable {
    case one(String)
    /// It is in no unit.
    case none
    /// Why.
    case unknown(String)

    /// Reads it by a descriptor of the process, as the bus got it when the peer connected.
    ///
    /// Without a race: the number that the descriptor shows is the process's own for as long as that has not ended. So
    /// what is read by the number between two looks that find it alive is of this process, and of no later one that got
    /// its number.
    package init(ofProcess descriptor: Int32, files: some ProcessFiles = SystemProcessFiles()) {
        guard let before = files.processID(of: descriptor), before > 0 else {
            self = .unknown("its process has ended, or is in another PID namespace")
            return
        }
        let groups = files.controlGroups(of: before)
        guard !files.hasEnded(descriptor), files.processID(of: descriptor) == before else {
            self = .unknown("its process has ended")
            return
        }
        guard let groups else {
            self = .unknown("/proc/\(before)/cgroup cannot be read by this service (is /proc mounted with hidepid?)")
            return
        }
        self = UnitName.unit(inGroups: groups).map { .one($0) } ?? .none
    }
}

/// What is read of a process. A test has its own.
package protocol ProcessFiles {
    /// Nil or less than 1: the process has ended, or cannot be seen from here.
    func processID(of descriptor: Int32) -> Int32?
    func hasEnded(_ descriptor: Int32) -> Bool
    /// The text of its `cgroup` file.
    func controlGroups(of processID: Int32) -> String?
}

package struct SystemProcessFiles: ProcessFiles {
    package init() {}
    /// From the line `Pid:` that only a process's descriptor has.
    package func processID(of descriptor: Int32) -> Int32? {
        guard let text = Self.text(of: "/proc/self/fdinfo/\(descriptor)") else { return nil }
        for line in text.split(separator: "\n") where line.hasPrefix("Pid:") {
            return Int32(line.dropFirst(4).drop { $0 == "\t" || $0 == " " })
        }
        return nil
    }
    /// Such a descriptor is readable when the process has ended.
    package func hasEnded(_ descriptor: Int32) -> Bool {
        var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&entry, 1, 0) != 0
    }
    package func controlGroups(of processID: Int32) -> String? { Self.text(of: "/proc/\(processID)/cgroup") }

    /// The name of a process's program, for a message.
    static func program(of processID: UInt32) -> String? {
        text(of: "/proc/\(processID)/comm").map { String($0.prefix { $0 != "\n" }) }
    }

    private static func text(of path: String) -> String? {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        return (try? OpenFile.read(file, atMost: 64 << 10)).map { String(decoding: $0, as: UTF8.self) }
    }
}

/// Names of units in the paths of control groups, as systemd makes them (systemd, src/basic/cgroup-util.c).
package enum UnitName {
    private static let suffixes = [
        ".service", ".scope", ".slice", ".socket", ".mount", ".swap", ".target", ".device", ".automount", ".timer",
        ".path",
    ]
    /// Whether it is the whole name of a unit.
    package static func isUnit(_ name: String) -> Bool {
        guard let suffix = suffixes.first(where: { name.hasSuffix($0) }) else { return false }
        let prefix = name.utf8.dropLast(suffix.utf8.count)
        return name.utf8.count <= 255 && !prefix.isEmpty && prefix.first != UInt8(ascii: ".")
            && prefix.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: ":"), UInt8(ascii: "-"), UInt8(ascii: "_"),
                    UInt8(ascii: "."), UInt8(ascii: "\\"), UInt8(ascii: "@"):
                    true
                default: false
                }
            }
    }
    /// The unit of the text of a `cgroup` file; nil for none.
    package static func unit(inGroups text: String) -> String? {
        var (unified, named): (Substring?, Substring?) = (nil, nil)
        for line in text.split(separator: "\n") {
            let parts = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
            guard parts.count == 3 else { continue }
            if parts[0] == "0", parts[1].isEmpty { unified = parts[2] }
            if parts[1] == "name=systemd" { named = parts[2] }
        }
        // Before systemd had the unified hierarchy, it had one of its own.
        return (unified ?? named).flatMap { unit(inPath: $0) }
    }
    /// The first part behind the slices: what lies below is the unit's own affair.
    package static func unit(inPath path: some StringProtocol) -> String? {
        for part in path.split(separator: "/") {
            // systemd sets it before a name that the kernel could take for a file of its own.
            let name = String(part.hasPrefix("_") ? part.dropFirst() : part[...])
            guard isUnit(name) else { return nil }
            if !name.hasSuffix(".slice") { return name }
        }
        return nil
    }
}
