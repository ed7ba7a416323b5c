import RelayCore
import RelayTool

/// Writes what a service reports of itself.
struct StatusPage {
    let style: OutputStyle
    /// In microseconds since the Unix epoch.
    let now: UInt64
    /// The program behind a bus name; nil: unknown.
    let program: (String) -> String?
    /// nil: no bridge has to do with the service.
    var bridged: BridgedService?

    // MARK: For people

    func append(_ all: [InterfaceStatus], of service: String, to output: inout ByteBuffer) {
        if style.hasColor { output.append(Color.event) }
        SafeText.append(service, to: &output)
        if style.hasColor { output.append(Color.reset) }
        if let version = all.lazy.compactMap({ $0.status?.version }).first {
            output.append(", built with Relay \(PageText.safe(version))")
            if version != RelayVersion.current { output.append("; this relay-cli is \(RelayVersion.current)") }
        }
        output.append("\n")
        PageText.append(summary(all), at: 0, from: 0, width: style.width, to: &output)
        output.append("\n")
        for one in all {
            output.append("\n")
            if style.hasColor { output.append(Color.event) }
            SafeText.append(one.interface, to: &output)
            if style.hasColor { output.append(Color.reset) }
            output.append(one.isDurable ? ", durable\n" : ", volatile\n")
            guard let status = one.status else {
                output.append("  the service does not report more\n")
                continue
            }
            PageText.append(rows: rows(one, status), indent: 2, width: style.width, to: &output)
            append(status.subscribers, status, to: &output)
        }
    }

    /// Who is behind, in a sentence.
    private func summary(_ all: [InterfaceStatus]) -> String {
        var lags: [(peer: String, lag: UInt64)] = []
        var peers: Set<String> = []
        for one in all {
            for subscriber in one.status?.subscribers.listed ?? [] {
                peers.insert(subscriber.peer)
                if let lag = subscriber.lag(behind: one.status?.head), lag > 0 { lags.append((subscriber.peer, lag)) }
            }
        }
        if peers.isEmpty { return "Nobody is subscribed." }
        let isLeast = all.contains { $0.status?.subscribers.others ?? 0 > 0 }
        let count = (isLeast ? "More than " : "") + Quantity.count(UInt64(peers.count), "subscriber")
        guard let most = lags.max(by: { ($0.lag, $1.peer) < ($1.lag, $0.peer) }) else {
            return "\(count); none is known to be behind."
        }
        let behind = Set(lags.map(\.peer)).count
        return "\(count), \(behind) behind: \(name(of: most.peer)) the most, by \(Quantity.count(most.lag, "event"))."
    }
    private func name(of peer: String) -> String {
        PageText.safe(peer + (program(peer).map { " (\($0))" } ?? ""))
    }

    private func rows(_ one: InterfaceStatus, _ status: ServiceStatus) -> [(name: String, text: String)] {
        var rows: [(name: String, text: String)] = []
        if let head = status.head {
            let age = one.lastAt.map { ", " + Quantity.age(of: $0, now: now) } ?? ""
            rows.append(("last event", head == 0 ? "none yet" : "#\(head)\(age)"))
        }
        if one.isDurable {
            if let events = status.events {
                let size = status.bytes.map { ", " + Quantity.bytes($0) } ?? ""
                let age = one.oldestAt.map { " of " + Quantity.age(of: $0, now: now) } ?? ""
                let from = events > 0 ? status.oldest.map { "; the oldest is #\($0)\(age)" } ?? "" : ""
                rows.append(("kept", events == 0 ? "nothing" : Quantity.count(events, "event") + size + from))
            }
            if let file = status.fileBytes {
                var text = Quantity.bytes(file)
                if let log = status.walBytes, log > 0 { text += ", of which \(Quantity.bytes(log)) are its log" }
                if let isChecked = status.isChecked {
                    text += isChecked ? "; checked in full" : "; not yet checked in full"
                }
                rows.append(("journal file", text))
            }
            if let reason = status.storageReason { rows.append(("commits", "refused: \(reason)")) }
            if let free = status.freeBytes { rows.append(("disk", "\(Quantity.bytes(free)) free")) }
        } else {
            rows.append(("kept", "nothing: events are for those who are subscribed"))
        }
        rows += bridged?.rows(one.interface) ?? []
        if let capacity = status.ringCapacity {
            let words = [Quantity.bytes(capacity), status.ringReaders, status.ringSeekers].compactMap(\.self)
            rows.append(("ring", capacity == 0 ? "none" : words.joined(separator: "; ")))
        }
        rows.append(("signals", status.signalsPause ? "paused: too many, or a full bus; rings go on" : "sent"))
        if let epoch = status.epoch { rows.append(("run", "\(epoch)")) }
        rows.append(("subscribers", status.subscribers.count == 0 ? "none" : "\(status.subscribers.count)"))
        return rows
    }

    private func append(
        _ subscribers: StatusSubscribers, _ status: ServiceStatus, to output: inout ByteBuffer
    ) {
        // The subscriber furthest behind comes first; those that report no position, last.
        let sorted = subscribers.listed.enumerated().sorted { one, other in
            let (first, second) = (one.element.lag(behind: status.head), other.element.lag(behind: status.head))
            if first == second { return one.offset < other.offset }
            guard let first else { return false }
            return second.map { first > $0 } ?? true
        }.map(\.element)
        let names = sorted.map { name(of: $0.peer) }
        let column = names.map(\.count).max() ?? 0
        for (subscriber, name) in zip(sorted, names) {
            let lag =
                switch subscriber.lag(behind: status.head) {
                case nil: "does not tell what it has"
                case 0?: "up to date"
                case let lag?: "\(Quantity.count(lag, "event")) behind"
                }
            let events = subscriber.receivesAll ? "all events" : subscriber.names.joined(separator: ", ")
            let text = [subscriber.transport, lag, events].filter { !$0.isEmpty }.joined(separator: "; ")
            // Beside a long name there would be room for a few letters only.
            let start = 4 + column + 2
            let isNarrow = style.width.map { start + 20 > $0 } ?? false
            let blanks = isNarrow ? "\n        " : String(repeating: " ", count: column - name.count + 2)
            output.append("    " + name + blanks)
            let from = isNarrow ? 8 : start
            PageText.append(PageText.safe(text), at: from, from: from, width: style.width, to: &output)
            output.append("\n")
        }
        if subscribers.others > 0 { output.append("    and \(subscribers.others) more\n") }
    }

    // MARK: JSON

    /// An object and a line.
    func appendObject(_ one: InterfaceStatus, of service: String, to output: inout ByteBuffer) {
        output.append("{\"service\":")
        SafeText.append(quoted: service, to: &output)
        output.append(",\"interface\":")
        SafeText.append(quoted: one.interface, to: &output)
        output.append(",\"durability\":\"\(one.isDurable ? "durable" : "volatile")\"")
        for (name, time) in [("lastAt", one.lastAt), ("oldestAt", one.oldestAt)] {
            guard let time else { continue }
            output.append(",\"\(name)\":\"")
            EventClock.append(timestamp: time, to: &output)
            output.append("\"")
        }
        output.append(",\"status\":{")
        for (index, entry) in (one.status?.entries ?? []).enumerated() {
            if index > 0 { output.append(",") }
            SafeText.append(quoted: entry.name, to: &output)
            output.append(":")
            output.append(entry.value)
        }
        output.append("}")
        for (key, numbers, trouble) in bridged?.json(one.interface) ?? [] {
            output.append(",\"\(key)\":{")
            for (name, number) in numbers { output.append("\"\(name)\":\(number),") }
            output.append("\"trouble\":")
            SafeText.append(quoted: trouble, to: &output)
            output.append("}")
        }
        output.append("}\n")
    }
}
