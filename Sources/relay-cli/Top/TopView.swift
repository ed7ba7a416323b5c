import RelayTool

/// Makes lines of the model: a pure function of it, of what somebody looks at, and of the terminal's size.
struct TopView {
    struct Line: Equatable {
        enum Style { case title, heading, interface, selected, plain, faint }
        var text: String
        var style = Style.plain
    }
    /// In cells; nil: as much as it takes.
    var width: Int?
    var height: Int?
    var isUTF8 = true
    /// Whether keys are heeded.
    var hasKeys = true

    var text: TopText { TopText(isUTF8: isUTF8) }

    // MARK: A screen

    /// At most as many lines as the terminal has, none wider than it.
    func screen(_ model: TopModel, _ browser: TopBrowser) -> [Line] {
        var lines = top(model)
        if browser.showsHelp {
            lines += TopHelp(view: self).lines(on: browser.page)
        } else {
            let rows = model.rows(on: browser.page, browser.sorting)
            if let detail = browser.detail(in: rows) {
                lines += TopDetail(view: self, model: model).lines(of: detail)
            } else {
                lines += list(model, browser, room: height.map { $0 - lines.count })
            }
        }
        if let height, lines.count > height {
            let hidden = lines.count - max(0, height - 1)
            lines = Array(lines.prefix(max(0, height - 1)))
            if height > 0 { lines.append(Line(text: "\(text.ellipsis) \(hidden) more lines", style: .faint)) }
        }
        return clipped(lines)
    }
    /// How many rows of a page fit on the screen.
    func room(_ model: TopModel, on page: TopPage) -> Int {
        height.map { max(1, $0 - top(model).count - 2) } ?? .max
    }
    /// For where there is no terminal: all rows of both pages, or of one.
    func table(_ model: TopModel, page: TopPage? = nil, sorting: TopSorting? = nil) -> [Line] {
        var lines = top(model)
        func chosen(on page: TopPage) -> TopSorting {
            guard let sorting, TopOrder.all(on: page).contains(sorting.order) else {
                return TopSorting(order: .standard(on: page))
            }
            return sorting
        }
        if page != .subscribers {
            lines += TopStreamTable(view: self).lines(model.streamRows(chosen(on: .streams)), selected: nil)
        }
        if page != .streams, model.subscribersAreKnown {
            if page == nil { lines.append(Line(text: "")) }
            lines += subscribers(model, chosen(on: .subscribers))
        }
        return clipped(lines)
    }
    private func clipped(_ lines: [Line]) -> [Line] {
        lines.map { Line(text: text.clipped($0.text, to: width ?? .max), style: $0.style) }
    }

    /// The title, and what is to be said besides.
    private func top(_ model: TopModel) -> [Line] {
        let rate = model.interfaces.values.reduce(0) { $0 + $1.whole.rate }
        let title = "\(text.safe(model.service))  \(TopNumbers.rate(rate)) events/s"
        var lines = [Line(text: title, style: .title)]
        if hasKeys, let width {
            let hint = ["? keys  q quits", "q quits"].first { title.count + 2 + $0.count <= width }
            if let hint {
                let blanks = String(repeating: " ", count: width - title.count - hint.count)
                lines[0].text += blanks + hint
            }
        }
        if model.ringLacking > 0 {
            let words = "\(Quantity.count(model.ringLacking, "peer")) without a place at the ring: signals instead"
            lines += text.wrapped(words, width: width).map { Line(text: $0, style: .faint) }
        }
        if let notice = model.notice {
            lines += text.wrapped(text.safe(notice), width: width).map { Line(text: $0, style: .faint) }
        }
        return lines
    }

    // MARK: A list

    private func list(_ model: TopModel, _ browser: TopBrowser, room: Int?) -> [Line] {
        let rows = model.rows(on: browser.page, browser.sorting)
        if rows.isEmpty {
            guard let words = browser.page == .streams ? nothing(model) : nobody(model) else { return [] }
            return [head(model, browser, nil, of: 0)] + text.wrapped(words, width: width).map { Line(text: $0) }
        }
        let index = browser.index(in: rows) ?? 0
        // Its own heading, and that of the columns.
        let range = Self.window(rows.count, around: index, room: room.map { $0 - 2 } ?? .max)
        var lines = [head(model, browser, range, of: rows.count)]
        switch browser.page {
        case .streams:
            let all = model.streamRows(browser.sorting)
            lines += TopStreamTable(view: self).lines(all, showing: range, selected: index)
            lines += below(model, all[index], room: room.map { $0 - lines.count } ?? .max)
        case .subscribers:
            lines += TopSubscriberTable(view: self, programs: model.programs)
                .lines(model.subscriberRows(browser.sorting), showing: range, selected: index)
            if model.otherSubscribers > 0 { lines.append(Line(text: "and \(model.otherSubscribers) more")) }
        }
        return lines
    }
    private func nothing(_ model: TopModel) -> String? {
        model.notice == nil ? "nothing to show: the service publishes no such event" : nil
    }
    private func nobody(_ model: TopModel) -> String? {
        model.subscribersAreKnown ? "nobody is subscribed" : "the service does not report who is subscribed"
    }
    /// What is listed, how it is sorted, and where the other page is.
    private func head(_ model: TopModel, _ browser: TopBrowser, _ range: Range<Int>?, of count: Int) -> Line {
        let sorting = browser.sorting
        var words = "\(browser.page.rawValue) by \(sorting.order.rawValue)" + (sorting.isReversed ? ", reversed" : "")
        if let range, range.count < count {
            words += ", rows \(range.lowerBound + 1) to \(range.upperBound) of \(count)"
        }
        let other = "tab: \(browser.page.other.rawValue)"
        if hasKeys, words.count + 3 + other.count <= width ?? .max { words += "   " + other }
        return Line(text: words, style: .faint)
    }
    /// How long the selected row's events took, and who is subscribed, as far as there is room.
    private func below(_ model: TopModel, _ row: TopStreamRow, room: Int) -> [Line] {
        var lines: [Line] = []
        if room >= 2, let strip = LatencyBars(text: text).strip(row, width: width) {
            lines += [Line(text: ""), Line(text: strip)]
        }
        let rows = model.subscriberRows(TopSorting(order: .lag))
        // A heading without a row would say nothing.
        if room - lines.count < 3 || rows.isEmpty { return lines }
        let shown = min(rows.count, room - lines.count - 2)
        lines.append(Line(text: ""))
        lines += TopSubscriberTable(view: self, programs: model.programs)
            .lines(rows, showing: 0..<shown, selected: nil)
        return lines
    }
    func subscribers(_ model: TopModel, _ sorting: TopSorting) -> [Line] {
        let rows = model.subscriberRows(sorting)
        if rows.isEmpty { return [Line(text: nobody(model) ?? "")] }
        var lines = TopSubscriberTable(view: self, programs: model.programs).lines(rows, selected: nil)
        if model.otherSubscribers > 0 { lines.append(Line(text: "and \(model.otherSubscribers) more")) }
        return lines
    }
    /// Which of so many rows are shown, so that one of them is.
    static func window(_ count: Int, around index: Int, room: Int) -> Range<Int> {
        let room = max(1, room)
        if count <= room { return 0..<count }
        let start = min(max(0, index - room / 2), count - room)
        return start..<start + room
    }
}

/// What is the same for all texts on a screen.
struct TopText {
    let isUTF8: Bool

    var ellipsis: String { isUTF8 ? "…" : "..." }
    /// In front of the row that is selected.
    static let (selected, other) = ("> ", "  ")

    /// A text of a peer's, with nothing in it that acts on a terminal, or is wider than it counts.
    func safe(_ text: String) -> String {
        String(String.UnicodeScalarView(text.unicodeScalars.map { 0x20..<0x7F ~= $0.value ? $0 : "?" }))
    }
    func clipped(_ text: String, to width: Int) -> String {
        if text.count <= width { return text }
        return width <= ellipsis.count
            ? String(text.prefix(max(0, width))) : text.prefix(width - ellipsis.count) + ellipsis
    }
    /// A name with dots: without its first parts where it is too long, then cut.
    func shortened(_ name: String, to width: Int) -> String {
        if name.count <= width { return name }
        var parts = name.split(separator: ".")[...]
        while parts.count > 1 {
            parts = parts.dropFirst()
            let short = ellipsis + parts.joined(separator: ".")
            if short.count <= width { return short }
        }
        return clipped(parts.first.map(String.init) ?? name, to: width)
    }
    /// As little of a name as says which it is: its last part.
    func last(_ name: String) -> String { name.split(separator: ".").last.map(String.init) ?? name }
    /// As many words as fit, and a sign that there are more.
    func words(_ words: [String], to width: Int) -> String {
        let all = words.joined(separator: " ")
        if all.count <= width { return all }
        var text = ""
        for word in words {
            let longer = text.isEmpty ? word : text + " " + word
            if longer.count + 1 + ellipsis.count > width { break }
            text = longer
        }
        if !text.isEmpty { return text + " " + ellipsis }
        return clipped(words.count > 1 ? "\(words.count) events" : all, to: width)
    }
    /// Lines of whole words.
    func wrapped(_ text: String, width: Int?) -> [String] {
        guard let width, text.count > width else { return [text] }
        var lines: [String] = []
        for word in text.split(separator: " ") {
            if let last = lines.last, last.count + 1 + word.count <= width {
                lines[lines.count - 1] = last + " " + word
            } else {
                lines.append(String(word))
            }
        }
        return lines
    }
    func padded(_ text: String, to width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - text.count))
    }
    func right(_ text: String, to width: Int) -> String {
        String(repeating: " ", count: max(0, width - text.count)) + text
    }
    func trimmed(_ text: String) -> String { String(text.reversed().drop { $0 == " " }.reversed()) }
    func time(_ microseconds: UInt64?) -> String {
        microseconds.map { TopNumbers.time($0, isUTF8: isUTF8) } ?? "-"
    }
}
