public import RelayCore

/// Stored as text, which holds all of it in one column: `epoch:sequence:previous:publishedAt`.
extension Stamp: SQLStorable {
    public var sqlValue: SQLValue {
        get throws(RelayError) { .text("\(epoch):\(sequence):\(previous):\(publishedAt.microseconds)") }
    }
    public init?(stored: SQLValue) {
        guard case .text(let text) = stored, let numbers = Numbers(text[...], count: 4)?.values else { return nil }
        self.init(
            epoch: numbers[0], sequence: numbers[1], previous: numbers[2],
            publishedAt: Timestamp(microseconds: numbers[3]))
    }
}

/// Stored as text: `now`, `beginning`, `after:epoch:sequence`, `since:microseconds`, `resuming:name`.
extension StreamPosition: SQLStorable {
    public var sqlValue: SQLValue {
        get throws(RelayError) {
            switch kind {
            case .now: .text("now")
            case .beginning: .text("beginning")
            case .after(let epoch, let sequence): .text("after:\(epoch):\(sequence)")
            case .at(let sequence): .text("at:\(sequence)")
            case .since(let time): .text("since:\(time.microseconds)")
            case .resuming(let name, let restarts): .text("\(restarts ? "restarting" : "resuming"):\(name)")
            }
        }
    }
    public init?(stored: SQLValue) {
        guard case .text(let text) = stored else { return nil }
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        let rest = parts.count == 2 ? parts[1] : ""
        switch parts.first {
        case "now" where parts.count == 1: self = .now
        case "beginning" where parts.count == 1: self = .beginning
        case "after":
            guard let numbers = Numbers(rest, count: 2)?.values else { return nil }
            self = .after(epoch: numbers[0], sequence: numbers[1])
        case "at":
            guard let numbers = Numbers(rest, count: 1)?.values else { return nil }
            self.init(.at(numbers[0]))
        case "since":
            guard let numbers = Numbers(rest, count: 1)?.values else { return nil }
            self = .since(Timestamp(microseconds: numbers[0]))
        case "resuming" where !rest.isEmpty: self = .resuming(String(rest))
        case "restarting" where !rest.isEmpty: self = .resuming(String(rest), restartsIfDamaged: true)
        default: return nil
        }
    }
}

/// So many numbers, with colons between them.
private struct Numbers {
    let values: [UInt64]
    init?(_ text: Substring, count: Int) {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        let values = parts.compactMap { UInt64($0) }
        guard parts.count == count, values.count == count else { return nil }
        self.values = values
    }
}
