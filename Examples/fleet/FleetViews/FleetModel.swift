import RelayCore

/// What the dashboard knows: a value, which samples, gaps and states change, and a tick a second brings up to date.
public struct FleetModel: Equatable, Sendable {
    public enum State: String, Sendable {
        /// It has not been there yet.
        case waiting
        case live
        /// It was there, and is gone.
        case away
    }
    public struct Unit: Equatable, Sendable {
        public let index: Int
        public fileprivate(set) var state = State.waiting
        /// `ring` or `signal`; nil: nothing has come yet.
        public fileprivate(set) var transport: String?
        public fileprivate(set) var account = SampleAccount()
        public fileprivate(set) var celsius: Double?
        /// When the last sample was published.
        public fileprivate(set) var lastAt: Timestamp?
        /// Samples a second in each tick, the last one last.
        public fileprivate(set) var rates: [Double] = []
        fileprivate var count = 0
        fileprivate var latencies = [Latencies()]

        public var name: String { "Unit \(index)" }
        public var rate: Double { rates.last ?? 0 }
        /// In microseconds, of the last few ticks; nil: nothing came.
        public func latency(_ part: Double) -> UInt64? {
            latencies.reduce(into: Latencies()) { $0.merge($1) }.percentile(part)
        }
    }
    /// Something that happened to a unit, as a sentence.
    public struct News: Equatable, Sendable {
        public let unit: Int
        public let text: String
        public let at: Timestamp
        public var sentence: String { "Unit \(unit): \(text)" }
    }

    /// Ticks that a graph can show, and that a latency is of.
    static let (history, window) = (60, 5)
    /// More are forgotten.
    static let mostNews = 6
    /// A tick that comes so late has stood still: how long samples waited meanwhile says nothing of the fleet.
    static let standstill = Duration.seconds(3)

    public private(set) var units: [Unit]
    /// The last one last.
    public private(set) var news: [News] = []
    private var tickedAt: Timestamp?
    private var resumedAt = Timestamp(microseconds: 0)

    public init(_ indices: some Sequence<Int>) { units = indices.map { Unit(index: $0) } }

    /// A sample has come. Returns what is to be said about it.
    public mutating func add(
        _ unit: Int, _ stamp: Stamp, number: UInt64, celsius: Double, now: Timestamp
    ) -> News? {
        let isBack = units[unit].account.epoch.map { $0 != stamp.epoch } ?? false
        units[unit].account.add(stamp, number: number)
        (units[unit].celsius, units[unit].lastAt) = (celsius, stamp.publishedAt)
        units[unit].count += 1
        if stamp.publishedAt >= resumedAt {
            let (published, arrived) = (stamp.publishedAt.microseconds, now.microseconds)
            units[unit].latencies[units[unit].latencies.count - 1].add(arrived > published ? arrived - published : 0)
        }
        return isBack ? add(unit, "It is back, and counts from 1.", now) : nil
    }
    /// Samples are missing. Returns what is to be said about it.
    public mutating func add(_ unit: Int, _ gap: Gap, now: Timestamp) -> News {
        units[unit].account.add(gap)
        return add(unit, gap.description, now)
    }
    private mutating func add(_ unit: Int, _ text: String, _ now: Timestamp) -> News {
        let new = News(unit: units[unit].index, text: text, at: now)
        news = news.suffix(Self.mostNews - 1) + [new]
        return new
    }
    public mutating func take(_ unit: Int, _ state: EventRelay.State) {
        switch state {
        case .connecting: break
        case .active: units[unit].state = .live
        case .interrupted, .invalidated: if units[unit].state == .live { units[unit].state = .away }
        }
    }
    /// By which transport the samples come now: one that is away keeps the last.
    public mutating func take(_ unit: Int, transport: String?) {
        if units[unit].state == .live { units[unit].transport = transport }
    }

    /// Some time has passed, usually a second.
    public mutating func tick(now: Timestamp) {
        defer { tickedAt = now }
        guard let tickedAt, now > tickedAt else { return }
        let hasStoodStill = now - tickedAt > Self.standstill
        if hasStoodStill { resumedAt = now }
        let seconds = (now - tickedAt) / .seconds(1)
        for index in units.indices {
            units[index].rates = units[index].rates.suffix(Self.history - 1) + [Double(units[index].count) / seconds]
            units[index].count = 0
            if hasStoodStill { units[index].latencies = [] }
            units[index].latencies = units[index].latencies.suffix(Self.window - 1) + [Latencies()]
        }
    }

    // MARK: All together

    /// Whether each unit's present run has been heard.
    public var allAreHeard: Bool {
        units.allSatisfy { $0.state == .live && $0.account.ofRun > 0 && $0.transport != nil }
    }
    public func count(by transport: String) -> Int { units.count { $0.transport == transport } }
    public var received: UInt64 { units.reduce(0) { $0 + $1.account.received } }
    public var missing: UInt64 { units.reduce(0) { $0 + $1.account.missing } }
    public var openEnds: Int { units.reduce(0) { $0 + $1.account.openEnds } }
    /// Samples that came twice or in another's place, or did not come and were not named: 0, whatever happens.
    public var unaccounted: UInt64 {
        units.reduce(0) { $0 + $1.account.twice + $1.account.unexplained + $1.account.misplaced }
    }
}
