import CRelayShims
import Glibc

/// How much time has passed in a journal's life, as far as that is certain: what ages are measured with.
///
/// A system's clock can be wrong by any amount, and be put right at any moment. So an age is a length of time that has
/// certainly passed, never the difference of two readings that may not belong together:
///
/// - While a machine runs, its monotonic clock counts, whatever happens to the system's clock.
/// - What passed between two boots is the difference of the system's clock then and now, if it could be trusted both
///   times.
///
/// The clock is trusted when the kernel reports it as synchronised, or when it has kept step with the monotonic clock
/// for ten minutes (also over several runs of a service). A clock that has only kept step may have been wrong all the
/// time: as soon as the kernel knows better, nothing is compared with it any more.
struct RetentionClock: Hashable {
    /// A reading of the machine's clocks at one moment.
    struct Reading: Hashable, Sendable {
        /// Which boot this is; empty if unknown.
        var boot: String
        /// Microseconds since that boot, time asleep included.
        var uptime: UInt64
        /// Microseconds since 1970.
        var wall: UInt64
        /// Whether the kernel reports `wall` as synchronised.
        var isSynchronized: Bool
    }
    enum Trust: Int, Hashable, Comparable {
        case none, agreed, synchronized
        static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
    }
    /// A moment to measure an age from.
    struct Mark: Hashable {
        var elapsed: UInt64
        var wall: UInt64
        /// Whether, and how far, `wall` can be trusted.
        var trust: Trust
    }

    /// Microseconds that have passed, as far as is known; of this boot, all of them.
    private(set) var elapsed: UInt64 = 0
    /// What it was when this boot was first seen: what is older is of other boots.
    private(set) var elapsedAtBoot: UInt64 = 0
    private(set) var boot = ""
    private(set) var uptime: UInt64 = 0
    /// Since when both clocks have kept step, and how far they are apart.
    private(set) var stepsSince: UInt64 = 0
    private(set) var offset: Int64 = 0
    /// As of the last reading.
    private(set) var wall: UInt64 = 0
    private(set) var trust = Trust.none
    private var hasRead = false

    /// A clock that shows less was never set: 2025-01-01.
    static let earliest: UInt64 = 1_735_689_600_000_000
    /// How long two clocks have to keep step.
    static let patience: UInt64 = 600_000_000

    init() {}
    /// As an earlier run kept it.
    init(elapsed: UInt64, elapsedAtBoot: UInt64, boot: String, uptime: UInt64, stepsSince: UInt64, offset: Int64) {
        (self.elapsed, self.elapsedAtBoot, self.boot, self.uptime) = (elapsed, elapsedAtBoot, boot, uptime)
        (self.stepsSince, self.offset) = (stepsSince, offset)
    }

    mutating func read(_ reading: Reading) {
        let apart = Int64(clamping: Int128(reading.wall) - Int128(reading.uptime))
        // Where the boot is unknown, each run counts as one.
        let isSameBoot = reading.boot == boot && (hasRead || !boot.isEmpty) && reading.uptime >= uptime
        hasRead = true
        if !isSameBoot {
            // A reboot takes longer than that. So what an earlier boot noted last is not taken for this one's.
            elapsed += elapsed == .max ? 0 : 1
            (boot, elapsedAtBoot) = (reading.boot, elapsed)
            (stepsSince, offset) = (reading.uptime, apart)
        } else {
            elapsed = elapsed(at: reading.uptime)
            // A clock that is being slewed still keeps step: 500 millionths, and a second for what is read in between.
            let tolerance = 1_000_000 + (reading.uptime - min(stepsSince, reading.uptime)) / 2_000
            let isApart = (Int128(apart) - Int128(offset)).magnitude > tolerance
            if isApart || stepsSince > reading.uptime { (stepsSince, offset) = (reading.uptime, apart) }
        }
        (uptime, wall) = (reading.uptime, reading.wall)
        trust =
            if reading.wall < Self.earliest {
                .none
            } else if reading.isSynchronized {
                .synchronized
            } else {
                reading.uptime - stepsSince >= Self.patience ? .agreed : .none
            }
    }
    /// What `elapsed` is at a later moment of this boot.
    func elapsed(at uptime: UInt64) -> UInt64 {
        let (sum, isOver) = elapsed.addingReportingOverflow(uptime - min(self.uptime, uptime))
        return isOver ? .max : sum
    }
    /// To measure from the last reading on.
    var mark: Mark { Mark(elapsed: elapsed, wall: trust == .none ? 0 : wall, trust: trust) }

    /// How long ago a mark was set, at the last reading: never more than has passed.
    func age(of mark: Mark) -> UInt64 {
        let certain = elapsed - min(mark.elapsed, elapsed)
        // Of this boot everything is known. Of a clock that was put right since, nothing can be concluded.
        if mark.elapsed >= elapsedAtBoot || mark.trust == .none || trust == .none || mark.trust < trust {
            return certain
        }
        return max(certain, wall - min(mark.wall, wall))
    }
    /// A mark of this boot, as the trust of today would have set it; nil for one that is as good already.
    func better(_ mark: Mark) -> Mark? {
        guard mark.elapsed >= elapsedAtBoot, mark.trust < trust else { return nil }
        let age = elapsed - min(mark.elapsed, elapsed)
        return Mark(elapsed: mark.elapsed, wall: wall - min(age, wall), trust: trust)
    }
}

extension RetentionClock.Reading {
    /// This machine's clocks, now.
    static func now() -> Self {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        let wall = UInt64(clamping: time.tv_sec) &* 1_000_000 &+ UInt64(clamping: time.tv_nsec) / 1_000
        return Self(boot: thisBoot, uptime: uptime(), wall: wall, isSynchronized: relay_clock_is_synchronized())
    }
    /// CLOCK_BOOTTIME in microseconds.
    static func uptime() -> UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_BOOTTIME, &time)
        return UInt64(clamping: time.tv_sec) &* 1_000_000 &+ UInt64(clamping: time.tv_nsec) / 1_000
    }
    private static let thisBoot: String = {
        let descriptor = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return "" }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: 64)
        let count = bytes.withUnsafeMutableBytes { Glibc.read(descriptor, $0.baseAddress, $0.count) }
        return String(decoding: bytes.prefix(max(0, count)).prefix { $0 > 32 }, as: UTF8.self)
    }()
}
