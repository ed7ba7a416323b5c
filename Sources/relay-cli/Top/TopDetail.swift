import RelayTool

/// A stream, an event or a subscriber by itself.
struct TopDetail {
    let view: TopView
    let model: TopModel

    private var text: TopText { view.text }

    func lines(of id: TopRowID) -> [TopView.Line] {
        switch id {
        case .stream(let name):
            guard let interface = model.interfaces[name] else { return gone(name) }
            var lines = head("stream", name, interface.whole)
            lines += text.wrapped(state(interface), width: view.width).map { TopView.Line(text: $0) }
            lines += latency(interface.whole)
            let subscribers = model.subscriberRows(TopSorting(order: .lag)).filter { $0.interface == name }
            if !subscribers.isEmpty {
                lines.append(TopView.Line(text: ""))
                lines += TopSubscriberTable(view: view, programs: model.programs).lines(subscribers, selected: nil)
            }
            return lines
        case .event(let stream, let name):
            guard let figures = model.interfaces[stream]?.events[name] else { return gone(name) }
            return head("event", name, figures) + [TopView.Line(text: "of " + text.safe(stream))] + latency(figures)
        case .subscriber(let peer, _):
            let rows = model.subscriberRows(TopSorting(order: .interface)).filter { $0.subscriber.peer == peer }
            if rows.isEmpty { return gone(peer) }
            let program = model.programs[peer].map { ", " + text.safe($0) } ?? ""
            var lines = [TopView.Line(text: "subscriber " + text.safe(peer) + program, style: .heading), back]
            for row in rows {
                let lag =
                    switch row.lag {
                    case nil: "does not tell what it has"
                    case 0?: "up to date"
                    case let lag?: Quantity.count(lag, "event") + " behind"
                    }
                let names = row.subscriber.receivesAll ? "all events" : row.subscriber.names.joined(separator: ", ")
                lines += [TopView.Line(text: ""), TopView.Line(text: text.safe(row.interface), style: .interface)]
                let facts = ["by " + row.subscriber.transport, lag, names].filter { !$0.isEmpty }
                lines += text.wrapped(
                    text.safe(facts.joined(separator: "; ")), width: view.width.map { max(1, $0 - 2) }
                )
                .map { TopView.Line(text: "  " + $0) }
            }
            return lines
        }
    }
    private var back: TopView.Line { TopView.Line(text: view.hasKeys ? "esc: back" : "", style: .faint) }
    private func gone(_ name: String) -> [TopView.Line] {
        [TopView.Line(text: text.safe(name) + " is not there any more"), back]
    }
    private func head(_ kind: String, _ name: String, _ figures: TopModel.Figures) -> [TopView.Line] {
        let label = "\(TopNumbers.rate(figures.rate)) a second"
        var rate = label
        if let width = view.width, width - label.count - 2 >= 8 {
            rate += "  " + Sparkline.text(figures.rates, width: min(60, width - label.count - 2), isUTF8: view.isUTF8)
        }
        return [TopView.Line(text: "\(kind) " + text.safe(name), style: .heading), back, TopView.Line(text: rate)]
    }
    private func state(_ interface: TopModel.Interface) -> String {
        var facts: [String] = []
        if let head = interface.status?.head { facts.append(head == 0 ? "no event yet" : "last event #\(head)") }
        if let lag = interface.lag {
            facts.append(lag == 0 ? "shown to its end" : Quantity.count(lag, "event") + " ahead")
        }
        let lost = TopStreamTable.lost(interface)
        facts.append(lost == "-" ? "none lost" : "\(lost) lost")
        if interface.status?.signalsPaused == true { facts.append("signals pause") }
        if let subscribers = interface.status?.subscribers {
            let count = subscribers.listed.count { $0.transport == "ring" }
            facts.append(
                count == 0 ? "nobody reads a ring" : Quantity.count(UInt64(count), "subscriber") + " by the ring")
        }
        return facts.joined(separator: "; ")
    }
    private func latency(_ figures: TopModel.Figures) -> [TopView.Line] {
        let histogram = figures.latency
        let seconds = "the last \(TopModel.window) seconds"
        var lines = [TopView.Line(text: "")]
        guard let half = histogram.percentile(0.5), let most = histogram.percentile(0.99) else {
            return lines + [TopView.Line(text: "no event in \(seconds)")]
        }
        let words = "latency in \(seconds): half within \(text.time(half)), 99 of 100 within \(text.time(most))"
        lines += text.wrapped(words, width: view.width).map { TopView.Line(text: $0, style: .heading) }
        return lines + LatencyBars(text: text).lines(histogram, width: view.width).map { TopView.Line(text: $0) }
    }
}

/// What the keys do.
struct TopHelp {
    let view: TopView

    static let keys: [(keys: String, does: String)] = [
        ("?, h", "this page, and back"), ("q, ctrl-C", "end"), ("ctrl-Z", "give the terminal back until 'fg'"),
        ("tab", "the other page: streams, or subscribers"), ("1, 2", "streams; subscribers"),
        ("up, down", "select a row; also k and j, page up and down, home and end"),
        ("enter", "the selected row by itself"), ("esc", "back"),
        ("s, S", "sort by the next column; by the previous"), ("r", "reverse the order"),
    ]
    func lines(on page: TopPage) -> [TopView.Line] {
        let text = view.text
        let column = (Self.keys.map(\.keys.count).max() ?? 0) + 2
        var lines: [TopView.Line] = []
        for (keys, does) in Self.keys {
            for (index, line) in text.wrapped(does, width: view.width.map { max(1, $0 - column) }).enumerated() {
                lines.append(TopView.Line(text: text.padded(index == 0 ? keys : "", to: column) + line))
            }
        }
        let orders = TopOrder.all(on: page).map(\.rawValue).joined(separator: ", ")
        lines.append(TopView.Line(text: ""))
        let words = "\(page.rawValue) can be sorted by \(orders)."
        return lines + text.wrapped(words, width: view.width).map { TopView.Line(text: $0, style: .faint) }
    }
}
