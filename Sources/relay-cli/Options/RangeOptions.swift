import RelayCore
import RelayTool

/// The options that say which of the kept events are wanted, as they are found one by one.
struct RangeOptions {
    private let time: LocalTime
    private var since: StreamPoint?
    private var until: StreamPoint?
    private var resume: String?
    private var cursors: String?
    private var chosenFormat: ExportFormat?
    var limit: UInt64?

    init(time: LocalTime) { self.time = time }

    /// Throws `.usage` with the option and the text.
    mutating func take(_ key: OptionKey, _ text: String) throws(CLIFailure) {
        switch key {
        case .since: since = try PointParser(time: time, key: key).point(text)
        case .until: until = try PointParser(time: time, key: key).point(text)
        case .resume:
            guard Self.isCursorName(text) else {
                throw CLIFailure(
                    .usage, "option '--resume': '\(text)' is no name: 1 to 64 letters (A to Z), digits, '_' and '-'")
            }
            resume = text
        case .cursors:
            if text.isEmpty { throw CLIFailure(.usage, "option '--cursors': '' is no folder") }
            cursors = text
        case .format:
            guard let format = ExportFormat(rawValue: text) else {
                let hint = NearMiss.hint(for: text, among: ExportFormat.allCases.map(\.rawValue))
                throw CLIFailure(
                    .usage,
                    "option '--format': no format '\(text)'" + (hint.isEmpty ? "; there are json and csv" : hint)
                )
            }
            chosenFormat = format
        default: break
        }
    }

    /// Where a `watch` begins.
    func start() throws(CLIFailure) -> WatchStart {
        if resume == nil && cursors != nil {
            throw CLIFailure(.usage, "option '--cursors' says where '--resume NAME' keeps its place; give that, too")
        }
        switch (since, resume) {
        case (nil, nil): return .now
        case (let point?, nil): return .since(point)
        case (nil, let name?): return .resuming(name: name, folder: cursors)
        case (.some, .some):
            throw CLIFailure(.usage, "two beginnings were asked for; give one of --since WHEN and --resume NAME")
        }
    }

    func history(of events: [String]) throws(CLIFailure) -> HistoryOptions {
        let isBackwards =
            switch (since, until) {
            case (.sequence(let first), .sequence(let last)): first > last
            case (.time(let first), .time(let last)): first > last
            default: false
            }
        if isBackwards { throw CLIFailure(.usage, "'--since' is behind '--until': nothing lies between them") }
        return HistoryOptions(events: events, since: since ?? .oldest, until: until, limit: limit)
    }

    func format(isJSON: Bool) throws(CLIFailure) -> ExportFormat {
        if isJSON && chosenFormat == .csv {
            throw CLIFailure(.usage, "two formats were asked for; give one of --json and --format csv")
        }
        return chosenFormat ?? .json
    }

    private static func isCursorName(_ text: String) -> Bool {
        (1...64).contains(text.utf8.count)
            && text.unicodeScalars.allSatisfy { scalar in
                switch scalar {
                case "A"..."Z", "a"..."z", "0"..."9", "_", "-": true
                default: false
                }
            }
    }
}
