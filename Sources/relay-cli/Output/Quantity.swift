import RelayTool

/// Amounts with their units, as people read them.
enum Quantity {
    /// `17 bytes`, `4.0 KiB`, `229 KiB`, `1.5 GiB`
    static func bytes(_ value: UInt64) -> String {
        if value < 1_024 { return value == 1 ? "1 byte" : "\(value) bytes" }
        var (size, unit) = (Double(value) / 1_024, 0)
        let units = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"]
        while size >= 1_023.5, unit + 1 < units.count { (size, unit) = (size / 1_024, unit + 1) }
        let tenths = UInt64((size * 10).rounded())
        return tenths < 100 && tenths % 10 != 0
            ? "\(tenths / 10).\(tenths % 10) \(units[unit])" : "\((tenths + 5) / 10) \(units[unit])"
    }
    /// `1,234 events`
    static func count(_ value: UInt64, _ one: String, _ several: String? = nil) -> String {
        var buffer = ByteBuffer()
        buffer.append(grouped: value)
        return buffer.text + " " + (value == 1 ? one : several ?? one + "s")
    }
    /// `less than a second`, `12 s`, `5 min`, `3 h`, `2 days`; cut off, not rounded.
    static func duration(_ microseconds: UInt64) -> String {
        let seconds = microseconds / 1_000_000
        return switch seconds {
        case 0: "less than a second"
        case ..<120: "\(seconds) s"
        case ..<7_200: "\(seconds / 60) min"
        case ..<172_800: "\(seconds / 3_600) h"
        default: "\(seconds / 86_400) days"
        }
    }
    /// `5 min ago`; of a clock that was set back since: `now`.
    static func age(of time: UInt64, now: UInt64) -> String { now > time ? duration(now - time) + " ago" : "now" }
}
