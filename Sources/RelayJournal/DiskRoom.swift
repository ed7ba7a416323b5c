import Glibc

/// How much room there is, and how people read it.
enum DiskRoom {
    /// What the file system of a path has left for this user, in bytes; nil: it does not say.
    static func free(at path: String) -> UInt64? {
        var system = statvfs()
        guard statvfs(path, &system) == 0 else { return nil }
        let (bytes, isTooMuch) = UInt64(system.f_bavail).multipliedReportingOverflow(by: UInt64(system.f_frsize))
        return isTooMuch ? nil : bytes
    }
    /// " (12 KiB are free now)"; empty when that is not known.
    static func note(at path: String) -> String {
        free(at: path).map { " (\(text(Int(clamping: $0))) are free now)" } ?? ""
    }
    /// In the unit in which it has one to four digits: "104 KiB".
    static func text(_ bytes: Int) -> String {
        let units = ["bytes", "KiB", "MiB", "GiB", "TiB"]
        var (value, unit) = (bytes, 0)
        func isTooSmall() -> Bool { value >= 10_000 || value >= 1_024 && (unit == 0 || value % 1_024 == 0) }
        while unit + 1 < units.count && isTooSmall() { (value, unit) = (value / 1_024, unit + 1) }
        return "\(value) \(units[unit])"
    }
}
