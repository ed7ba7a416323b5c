import RelayTool
import TestTraits
import Testing

@testable import relay_cli

@Suite("The keys of top", .computing, .tags(.g8)) struct TopKeysTests {
    private func keys(_ text: String) -> [TopKey] {
        var decoder = TopKeyDecoder()
        var found = text.utf8.compactMap { decoder.take($0) }
        if let key = decoder.timeout() { found.append(key) }
        return found
    }

    @Test("what terminals send for a key is that key") func decoded() {
        for (text, expected) in [
            ("q", [.quit]), ("?", [.help]), ("\t", [.otherPage]), ("12", [.streams, .subscribers]),
            ("\u{1B}[A\u{1B}[B", [.up, .down]), ("\u{1B}OA\u{1B}OB", [.up, .down]), ("kj", [.up, .down]),
            ("\u{1B}[5~\u{1B}[6~ b", [.pageUp, .pageDown, .pageDown, .pageUp]),
            ("\u{1B}[H\u{1B}[F\u{1B}[1~\u{1B}[4~gG", [.first, .last, .first, .last, .first, .last]),
            ("\r\n\u{1B}[C", [.enter, .enter, .enter]), ("\u{7F}\u{8}\u{1B}[D", [.back, .back, .back]),
            ("\u{1B}", [.back]), ("\u{1B}\u{1B}", [.back, .back]), ("sSr", [.nextOrder, .previousOrder, .reverse]),
            // Held keys, function keys, Alt and letters that mean nothing.
            ("\u{1B}[1;5A\u{1B}[15~\u{1B}[Z\u{1B}x\u{1B}OP", []), ("xyz!\u{0}", []),
            ("\u{1B}[1;5Aq", [.quit]), ("\u{1B}[99999999999999999999~q", [.quit]), ("\u{1B}[\u{1B}[A", [.up]),
        ] as [(String, [TopKey])] {
            #expect(keys(text) == expected, "\(text.debugDescription)")
        }
    }
    @Test("whatever was typed before, a moment later 'q' ends it; a decoder has few states") func everyText() {
        let alphabet: [UInt8] = [0x1B, 0x5B, 0x4F, 0x41, 0x35, 0x7E, 0x3B, 0x71, 0x00, 0xFF]
        var states: Set<TopKeyDecoder> = []
        let length = TestForm.rounds(4, soak: 6)
        var count = 1
        for _ in 0..<length { count *= alphabet.count }
        for number in 0..<count {
            var (decoder, rest) = (TopKeyDecoder(), number)
            for _ in 0..<length {
                _ = decoder.take(alphabet[rest % alphabet.count])
                states.insert(decoder)
                rest /= alphabet.count
            }
            let wasWaiting = decoder.isWaiting
            let late = decoder.timeout()
            let key = decoder.take(0x71)
            if key != .quit || decoder.isWaiting || (late != nil && !wasWaiting) {
                Issue.record("\(number): \(String(describing: late)), then \(String(describing: key))")
            }
        }
        #expect(states.count <= 104, "\(states.count)")
    }

    /// Rows of a page as a service's may be from one moment to the next.
    private static let rows: [TopPage: [[TopRowID]]] = [
        .streams: [
            [], [.stream("a")], [.stream("a"), .event(stream: "a", name: "X"), .stream("b")],
            [.stream("b"), .stream("a")],
        ],
        .subscribers: [
            [], [.subscriber(peer: ":1.1", interface: "a")],
            [.subscriber(peer: ":1.2", interface: "a"), .subscriber(peer: ":1.1", interface: "a")],
        ],
    ]
    @Test("in every state that any keys lead to, while rows come and go, each key does what it says")
    func everyState() throws {
        var (seen, waiting): (Set<TopBrowser>, [TopBrowser]) = ([], [TopBrowser()])
        while let state = waiting.popLast() {
            for rows in try #require(Self.rows[state.page]) {
                let index = state.index(in: rows)
                #expect(
                    rows.isEmpty == (index == nil) && rows.indices.contains(index ?? rows.startIndex) != rows.isEmpty)
                for key in TopKey.allCases {
                    var next = state
                    let effect = next.take(key, rows: rows, room: 2)
                    if let fault = Self.fault(key, state, rows, effect, next) {
                        Issue.record("\(key) in \(state) with \(rows): \(fault): \(next)")
                    }
                    if seen.insert(next).inserted { waiting.append(next) }
                }
            }
        }
        #expect(seen.count > 100 && seen.count < 20_000, "\(seen.count)")
    }
    /// nil: it is as it should be.
    private static func fault(
        _ key: TopKey, _ before: TopBrowser, _ rows: [TopRowID], _ effect: TopBrowser.Effect, _ after: TopBrowser
    ) -> String? {
        if (effect == .quit) != (key == .quit) { return "the end" }
        if effect == .none && before != after { return "a change that is not drawn" }
        if !TopOrder.all(on: after.page).contains(after.sorting.order) { return "a column of the other page" }
        let row = after.index(in: rows).map { rows[$0] }
        switch key {
        case .quit: return before == after ? nil : "a change"
        case .help: return after.showsHelp != before.showsHelp ? nil : "the same page"
        case .back, .enter:
            if before.showsHelp { return after.showsHelp ? "still help" : nil }
            if key == .back { return after.showsDetail ? "still by itself" : nil }
            return after.showsDetail || rows.isEmpty ? nil : "not by itself"
        case .streams, .subscribers, .otherPage:
            let page: TopPage = key == .otherPage ? before.page.other : key == .streams ? .streams : .subscribers
            return after.page == page && !after.showsHelp ? nil : "not that page"
        case .up, .down, .pageUp, .pageDown, .first, .last:
            if before.showsHelp || rows.isEmpty { return before == after ? nil : "a change" }
            guard let old = before.index(in: rows), let new = row.flatMap(rows.firstIndex) else { return "no row" }
            switch key {
            case .first: return new == 0 ? nil : "not the first"
            case .last: return new == rows.count - 1 ? nil : "not the last"
            case .up, .pageUp: return new == max(0, old - 1) ? nil : "not the row above"
            default: return new == min(rows.count - 1, old + 1) ? nil : "not the row below"
            }
        case .nextOrder, .previousOrder:
            if before.showsHelp { return before == after ? nil : "a change" }
            var back = after
            _ = back.take(key == .nextOrder ? .previousOrder : .nextOrder, rows: rows, room: 2)
            return before.sorting.order != after.sorting.order && back.sorting.order == before.sorting.order
                ? nil : "no way back"
        case .reverse:
            if before.showsHelp { return before == after ? nil : "a change" }
            return after.sorting == TopSorting(order: before.sorting.order, isReversed: !before.sorting.isReversed)
                ? nil : "not reversed"
        }
    }
    @Test("the selected row stays selected while rows change places; when it goes, its neighbour is") func selection() {
        let rows: [TopRowID] = [.stream("a"), .stream("b"), .stream("c")]
        var browser = TopBrowser()
        #expect(browser.index(in: rows) == 0)
        _ = browser.take(.down, rows: rows, room: 9)
        #expect(browser.index(in: rows.reversed()) == 1 && browser.index(in: [.stream("b")]) == 0)
        _ = browser.take(.down, rows: rows, room: 9)
        #expect(browser.index(in: rows) == 2 && browser.index(in: rows.reversed()) == 0)
        #expect(browser.index(in: Array(rows.dropLast())) == 1 && browser.index(in: []) == nil)
        _ = browser.take(.enter, rows: rows, room: 9)
        #expect(browser.detail(in: rows) == .stream("c"))
        #expect(browser.detail(in: []) == .stream("c"), "one that has gone is said to have gone")
    }
    @Test("the options choose page and order; a column of the other page is refused") func options() throws {
        func top(_ arguments: String...) throws -> Top? { try Line.read(["top"] + arguments).verb as? Top }
        #expect(try top()?.page == nil && top()?.sorting == nil)
        #expect(try top("--sort", "p99")?.sorting == TopSorting(order: .p99))
        #expect(try top("--sort", "p99", "--reverse")?.sorting == TopSorting(order: .p99, isReversed: true))
        #expect(try top("--view", "subscribers", "--reverse")?.sorting == TopSorting(order: .lag, isReversed: true))
        #expect(try top("--view", "subscribers", "--sort", "transport")?.page == .subscribers)
        #expect(
            Line.refusal(["top", "--sort", "transport"])
                == CLIFailure(
                    .usage,
                    "option '--sort': streams are not sorted by 'transport', but by name, rate, p50, p99, lag and "
                        + "lost; give --view subscribers for that column"))
        #expect(
            Line.refusal(["top", "--view", "rings"])
                == CLIFailure(
                    .usage, "option '--view': 'rings' is no view; there are streams and subscribers"))
    }
}
