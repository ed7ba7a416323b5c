import RelayCore
import RelayTool

/// Reads journals side by side and puts their events together by time. Of each there are at most two pages in memory:
/// one that is printed, one that comes.
struct HistoryLoop {
    private struct Source {
        let interface: String
        var scan: JournalScan
        var page: StoredPage?
        /// Of the page's events: the next one, and the end of those that are wanted.
        var next = 0
        var end = 0
        /// Among the page's events, or behind them.
        var gaps: [Gap] = []
        var coming: Task<StoredPage, any Error>?

        var time: Timestamp? { next < end ? page?.events[next].stamp.publishedAt : nil }
    }
    /// Text that is composed before it is written.
    private static let mostComposed = 128 << 10

    private let range: JournalRange
    private let reader: JournalReader
    private let now: () -> UInt64
    /// When the program began: what is later is the future.
    private let begun: Timestamp
    private let note: (String) -> Void
    private var printer: any JournalPrinter
    private var output: OutputChannel
    private var sources: [Source] = []
    private var printed: UInt64 = 0
    /// The sequence of the last one, where there is one interface.
    private var written: UInt64?
    /// Nobody reads any more.
    private var isClosed = false
    private var progress: ProgressLine?

    init(
        _ range: JournalRange, reader: JournalReader, printer: any JournalPrinter, output: OutputChannel,
        begun: Timestamp, now: @escaping () -> UInt64, note: @escaping (String) -> Void, progress: ProgressLine? = nil
    ) {
        self.begun = begun
        self.progress = progress
        (self.range, self.reader, self.printer, self.output) = (range, reader, printer, output)
        (self.now, self.note) = (now, note)
    }

    private var limit: UInt64 { range.limit ?? .max }

    mutating func run(_ selected: [JournalSelection.Source]) throws(CLIFailure) {
        for (index, source) in selected.enumerated() {
            try printer.learn(source.schemas, of: source.interface, source: index)
        }
        try printer.begin(&output.pending)
        for source in selected {
            sources.append(Source(interface: source.interface, scan: try begin(source)))
            readAhead(sources.count - 1)
        }
        defer { progress?.end() }
        do throws(CLIFailure) {
            while printed < limit, let index = try nextSource(), !isClosed { try printRun(of: index) }
        } catch {
            // What was there before the failure is true.
            if !isClosed { try flush() }
            guard let written else { throw error }
            throw CLIFailure(error.code, error.message + "; the last event written is #\(written)")
        }
        if !isClosed { try flush() }
    }

    // MARK: Places

    private func begin(_ source: JournalSelection.Source) throws(CLIFailure) -> JournalScan {
        let until: UInt64 = if case .sequence(let last) = range.until { last } else { .max }
        let after: UInt64?
        switch range.since {
        case .oldest: after = nil
        case .sequence(let first): after = first - 1  // From 1 on: the parser sees to it.
        case .time(let time):
            let found = try Waiting.result { [reader] in try await reader.place(of: time, in: source) }
            if time > begun {
                note("--since is in the future: " + Self.end(of: source.interface, head: found.after))
            }
            if found.isOldest && found.after > 0 {
                // Below the oldest that is kept: there is a next one.
                note("what \(source.interface) published before #\(found.after + 1) is no longer kept")
            }
            after = found.after
        }
        return JournalScan(
            source.interface, of: reader.service, names: source.names, after: after, until: until)
    }

    static func end(of interface: String, head: UInt64) -> String {
        head == 0 ? "\(interface) has no event yet" : "the last event of \(interface) is #\(head)"
    }

    // MARK: Pages

    private mutating func readAhead(_ index: Int) {
        let source = sources[index]
        // Nobody knows how many are left out.
        let most = printer.leavesOut ? .max : limit - printed
        // What is here is enough.
        if source.scan.isDone || UInt64(source.end - source.next) >= most { return }
        sources[index].coming = reader.begin(
            source.interface, names: source.scan.names, after: source.scan.after,
            limit: UInt32(exactly: most) ?? 0)
    }

    /// The source with the earliest event, once each has its next one or has none.
    private mutating func nextSource() throws(CLIFailure) -> Int? {
        var earliest: (index: Int, time: Timestamp)?
        for index in sources.indices {
            while sources[index].time == nil, !isClosed {
                if sources[index].coming == nil { readAhead(index) }
                guard let coming = sources[index].coming else { break }
                sources[index].coming = nil
                try flush()
                try take(try Waiting.result { try await coming.value }, index)
            }
            if let time = sources[index].time, earliest.map({ time < $0.time }) ?? true { earliest = (index, time) }
        }
        return earliest?.index
    }

    private mutating func take(_ page: StoredPage, _ index: Int) throws(CLIFailure) {
        let interface = sources[index].interface
        if sources[index].scan.last == nil, case .sequence(let first) = range.since, first > page.page.head {
            note("--since \(first) is beyond the end: " + Self.end(of: interface, head: page.page.head))
        }
        let gaps = sources[index].scan.gaps(in: page.page)
        let gap = try sources[index].scan.take(
            page.page, sequences: page.events.lazy.map(\.stamp.sequence), size: page.bytes.count)
        if let names = sources[index].scan.names, let other = page.events.first(where: { !names.contains($0.name) }) {
            throw CLIFailure(.software, "\(interface) answers Read with a \(other.name), which was not asked for")
        }
        if page.events.contains(where: { !printer.knows($0.schema, source: index) }) {
            // It may have been started anew, in another version, since it was asked.
            let schemas = try Waiting.result { [reader] in try await reader.schemas(of: interface) }
            try printer.learn(schemas, of: interface, source: index)
        }
        if let gap { printer.append(gap, of: interface, now: now(), to: &output.pending) }
        let last = sources[index].scan.last ?? .max
        let latest: Timestamp? = if case .time(let time) = range.until { time } else { nil }
        let end = page.events.firstIndex { event in
            event.stamp.sequence > last || latest.map { event.stamp.publishedAt > $0 } ?? false
        }
        if end != nil { sources[index].scan.end() }
        (sources[index].page, sources[index].next, sources[index].end) = (page, 0, end ?? page.events.count)
        sources[index].gaps = gaps
        if sources[index].end == 0 { printGaps(of: index, before: .max) }
        readAhead(index)
    }
    /// What the journal never had up to a sequence.
    private mutating func printGaps(of index: Int, before sequence: UInt64) {
        while let gap = sources[index].gaps.first, gap.sequences.upperBound < sequence {
            sources[index].gaps.removeFirst()
            printer.append(gap, of: sources[index].interface, now: now(), to: &output.pending)
        }
    }

    // MARK: Output

    /// Prints events of a source until another one has an earlier event, or its page is over.
    private mutating func printRun(of index: Int) throws(CLIFailure) {
        guard let page = sources[index].page else { return }
        // Of events of the same time, those of the earlier source come first, whatever was printed before them.
        let others = sources.indices.lazy.filter { $0 != index }.compactMap { [sources] other in
            sources[other].time.map { (time: $0, isAfter: other > index) }
        }
        let bound = others.min { ($0.time, $0.isAfter ? 1 : 0) < ($1.time, $1.isAfter ? 1 : 0) }
        var next = sources[index].next
        let end = sources[index].end
        // `withUnsafeBytes` rethrows untyped: the failure comes out by the side.
        var failure: CLIFailure?
        page.bytes.withUnsafeBytes { bytes in
            do throws(CLIFailure) {
                repeat {
                    let event = page.events[next]
                    let body = UnsafeRawBufferPointer(rebasing: bytes[event.body])
                    printGaps(of: index, before: event.stamp.sequence)
                    if printer.admits(event, body, source: index) {
                        try printer.append(event, body, source: index, to: &output.pending)
                        printed += 1
                    }
                    next += 1
                    if output.waitingBytes >= Self.mostComposed { try flush() }
                } while next < end && printed < limit && !isClosed
                    && bound.map { bound in
                        let time = page.events[next].stamp.publishedAt
                        return time < bound.time || (time == bound.time && bound.isAfter)
                    } ?? true
            } catch { failure = error }
        }
        sources[index].next = next
        if next == end, end == page.events.count { printGaps(of: index, before: .max) }
        if sources.count == 1 && next > 0 { written = page.events[next - 1].stamp.sequence }
        if let failure { throw failure }
    }

    private mutating func flush() throws(CLIFailure) {
        isClosed = try !output.drain()
        let part = part
        progress?.show(events: printed, part: part)
    }
    /// How much of what is there was looked at; nil: unknown.
    private var part: Double? {
        if let most = range.limit { return Double(printed) / Double(max(1, most)) }
        guard sources.count == 1, let page = sources[0].page?.page, page.head > 0 else { return nil }
        return Double(page.through) / Double(page.head)
    }
}

extension VerbContext {
    /// Prints a range of what the service keeps, on the thread that waits for it. `printer` gets what was found. Returns when all is written, or nobody reads it.
    func printJournal(
        _ range: JournalRange, printer: (_ selection: JournalSelection) throws(CLIFailure) -> any JournalPrinter
    ) throws(CLIFailure) {
        let (caller, options) = (try caller(), self.options)
        let reader = JournalReader(caller: caller, service: options.service, timeout: options.timeout)
        let selection = try Waiting.result {
            try await JournalSelection.find(
                range, service: options.service,
                discovery: Discovery(caller: caller, timeout: options.timeout, service: options.service),
                reader: reader)
        }
        var loop = HistoryLoop(
            range, reader: reader, printer: try printer(selection), output: tool.channel,
            begun: tool.time.now, now: { Timestamp.now.microseconds }, note: tool.note,
            progress: tool.progress.map { ProgressLine(write: $0) })
        try loop.run(selection.sources)
    }
}

extension JournalReader {
    /// The sequence before the first event at or after a time; `isOldest` when no earlier one is kept.
    ///
    /// Throws `ServiceAbsent` or `CLIFailure`.
    func place(of time: Timestamp, in source: JournalSelection.Source) async throws -> (after: UInt64, isOldest: Bool) {
        var search = TimeSearch(time)
        var oldest: UInt64?
        for _ in 0..<Self.mostProbes {
            // Of all events: a probe for rare ones would look at all between two of them.
            let page = try await begin(source.interface, names: nil, after: search.after, limit: 1).value
            let event = page.events.first?.stamp
            if let event, event.sequence <= search.after {
                throw CLIFailure(
                    .software, "\(source.interface) answers Read with #\(event.sequence) behind #\(search.after)")
            }
            let first = oldest ?? max(page.page.oldest, 1)
            oldest = first
            let place: UInt64?
            do throws(RelayError) {
                place = try search.take(
                    event: event.map { ($0.sequence, $0.publishedAt) }, oldest: page.page.oldest,
                    through: page.page.through, head: page.page.head)
            } catch { throw CLIFailure(.software, "\(source.interface) answers Read so that \(error.message)") }
            if let place { return (place, place < first) }
        }
        throw CLIFailure(
            .software,
            "\(source.interface) of '\(service)' answers Read without end: \(Self.mostProbes) probes found no place for a time"
        )
    }
    /// The search halves what is left, 64 times at the most. An empty page in between is an exception.
    private static var mostProbes: Int { 1_000 }
}
