/// A range of events that a subscription does not receive, and the reason. The gap is delivered in their place.
///
/// Each subscription decides what happens to its gaps: a subscription has `onGap:`, for which `{ _ in }` ignores them, and
/// a stream yields them.
///
/// ```swift
/// let subscription = publisher.subscribe(to: JobPrinted.self) { show($0) } onGap: { gap in
///     print(gap)  // 3 events are missing, sequences 5 to 7: the subscription's buffer was full.
/// }
/// ```
public struct Gap: Hashable, Sendable {
    /// The run that the sequences belong to.
    public let epoch: UInt64
    /// From the first missing sequence to the last. An upper bound of `UInt64.max` means that the run ended at an
    /// unknown sequence.
    ///
    /// Some sequences of the range may belong to events of other types. None belongs to an event that this subscription
    /// has received: events that are missing before and after a received event make two gaps.
    public let sequences: ClosedRange<UInt64>
    /// How many events *of this subscription* are missing; nil if the number cannot be known.
    public let count: Int?
    /// Why they are missing.
    public let reason: Reason
    /// Details for a person to read, if there are any: for example, which field of which event does not match.
    public let detail: String?
    /// If the reason is `.historyReplaced`: up to this sequence, the new history has the same events as the one that
    /// this subscription has received; 0 if no common event is known. What was received above it is undone. Nil for
    /// other reasons.
    public let commonThrough: UInt64?

    /// A gap within one run.
    ///
    /// - Parameter sequences: from the first missing sequence to the last.
    /// - Parameter epoch: the run.
    /// - Parameter count: how many events of the subscription are missing, if that is known.
    /// - Parameter reason: why they are missing.
    /// - Parameter detail: details for a person to read.
    /// - Parameter commonThrough: up to where a replaced history is the same.
    public init(
        _ sequences: ClosedRange<UInt64>, epoch: UInt64, count: Int?, reason: Reason, detail: String? = nil,
        commonThrough: UInt64? = nil
    ) {
        (self.sequences, self.epoch, self.count) = (sequences, epoch, count)
        (self.reason, self.detail, self.commonThrough) = (reason, detail, commonThrough)
    }

    /// Why events are missing. More may be added: compare reasons, and never switch over them without a default.
    public struct Reason: RawRepresentable, Hashable, Sendable {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }
        /// The buffer overflowed. ``EventBuffer`` describes how many gaps repeated overflows make.
        public static let overflow = Self(rawValue: "overflow")
        /// Retention removed them from the journal.
        public static let expired = Self(rawValue: "expired")
        /// A volatile interface lost them on the way.
        public static let lost = Self(rawValue: "lost")
        /// The journal never had them: it is a mirror's, and they were lost on the way there.
        public static let unrecorded = Self(rawValue: "unrecorded")
        /// The run changed, and the undelivered events of the old run are gone.
        public static let epochChanged = Self(rawValue: "epochChanged")
        /// The service has another history: its journal was restored from a backup, or is another one. Events that the
        /// subscription has received may be undone; see ``Gap/commonThrough``.
        public static let historyReplaced = Self(rawValue: "historyReplaced")
        /// The publisher's event lacks a field, or the field has another type.
        public static let schemaMismatch = Self(rawValue: "schemaMismatch")
        /// The relay was not made for their interface, or its contract does not list them: nothing brings them.
        public static let notFollowed = Self(rawValue: "notFollowed")
    }
}

extension Gap: CustomStringConvertible {
    /// Whether the gap's end is unknown: the run ended at an unknown sequence.
    public var isOpenEnded: Bool { sequences.upperBound == .max }

    /// What is missing and why, as a sentence.
    public var description: String {
        let (first, last) = (sequences.lowerBound, sequences.upperBound)
        let place = first == last ? "sequence \(first)" : "sequences \(first) to \(last)"
        let what: String
        switch count {
        case _ where isOpenEnded && epoch == 0: what = "Any number of events may be missing"
        case _ where isOpenEnded: what = "Events may be missing from sequence \(first) on"
        case 1?: what = "1 event is missing, \(place)"
        case let count?: what = "\(count) events are missing, \(place)"
        case nil: what = "Events may be missing, \(place)"
        }
        return "\(what): \(reason.text)" + (detail.map { " (\($0))." } ?? ".")
    }
}

extension Gap.Reason {
    fileprivate var text: String {
        switch self {
        case .overflow: "the subscription's buffer was full"
        case .expired: "the journal no longer has them"
        case .lost: "they were lost on the way"
        case .unrecorded: "the journal never had them"
        case .epochChanged: "the service's run has ended"
        case .historyReplaced: "the journal was replaced"
        case .schemaMismatch: "this program cannot read them"
        case .notFollowed: "this relay does not follow them"
        default: rawValue
        }
    }
}

extension Gap {
    /// Both as one, if that claims nothing which lies between them and may have been delivered before.
    ///
    /// `next` stands right behind this gap in the same subscription, so that what lies between them upwards was not for
    /// it.
    package func merged(with next: Gap) -> Gap? {
        guard next.epoch == epoch, next.reason == reason, next.detail == detail,
            next.commonThrough == commonThrough
        else { return nil }
        let (lower, upper) = (sequences.lowerBound, sequences.upperBound)
        let isBehind = lower > 0 && next.sequences.upperBound < lower - 1
        if isBehind { return nil }
        let union = min(lower, next.sequences.lowerBound)...max(upper, next.sequences.upperBound)
        return Gap(
            union, epoch: epoch, count: Self.sum(count, next.count), reason: reason, detail: detail,
            commonThrough: commonThrough)
    }
    package static func sum(_ a: Int?, _ b: Int?) -> Int? {
        guard let a, let b else { return nil }
        let (sum, isOver) = a.addingReportingOverflow(b)
        return isOver ? .max : sum
    }
}

/// The gaps of one place in a queue: at most one for each run and reason, whatever was lost there.
///
/// Bounded: past `limit` kinds, the oldest ranges are no longer named, only counted.
package struct CoalescedGaps: Equatable, Sendable {
    package static let limit = 8
    /// Apart from the others, so that the usual single gap needs no allocation.
    package private(set) var first: Gap
    private(set) var others: [Gap] = []

    package init(_ gap: Gap) { first = gap }
    /// One event that overflowed.
    package init(_ stamp: Stamp) { first = Self.gap(stamp) }

    package var gaps: [Gap] { [first] + others }

    package mutating func append(_ stamp: Stamp) { append(Self.gap(stamp)) }
    package mutating func append(_ gap: Gap) {
        // The newest of a kind is the one to go on with: an older one may lie above it.
        if let index = others.lastIndex(where: { $0.epoch == gap.epoch && $0.reason == gap.reason }) {
            if let merged = others[index].merged(with: gap) { return others[index] = merged }
        } else if let merged = first.merged(with: gap) {
            return first = merged
        }
        others.append(gap)
        if others.count == Self.limit {
            let second = others.removeFirst()
            first = Gap(
                second.sequences, epoch: second.epoch, count: Gap.sum(first.count, second.count), reason: second.reason)
        }
    }
    package mutating func append(_ run: CoalescedGaps) {
        append(run.first)
        for gap in run.others { append(gap) }
    }
    /// The run without its first gap.
    package var dropFirst: CoalescedGaps? {
        guard let second = others.first else { return nil }
        var rest = CoalescedGaps(second)
        rest.others = Array(others.dropFirst())
        return rest
    }
    private static func gap(_ stamp: Stamp) -> Gap {
        Gap(stamp.sequence...stamp.sequence, epoch: stamp.epoch, count: 1, reason: .overflow)
    }
}
