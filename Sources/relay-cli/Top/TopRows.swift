import RelayCore
import RelayTool

/// What `top` lists.
enum TopPage: String, CaseIterable, Sendable {
    /// Interfaces, and below each its events.
    case streams
    /// Those that are attached, one row for each interface that they follow.
    case subscribers

    var other: Self { self == .streams ? .subscribers : .streams }
}

/// What the rows of a page are sorted by.
enum TopOrder: String, CaseIterable, Sendable {
    case name, rate, p50, p99, lag, lost, transport, interface

    /// In the order in which a key goes through them.
    static func all(on page: TopPage) -> [Self] {
        switch page {
        case .streams: [.name, .rate, .p50, .p99, .lag, .lost]
        case .subscribers: [.lag, .name, .transport, .interface]
        }
    }
    static func standard(on page: TopPage) -> Self { page == .streams ? .name : .lag }
}

/// How a page is sorted: names from A on, figures from the largest on, or the other way round.
struct TopSorting: Hashable, Sendable {
    var order: TopOrder
    var isReversed = false

    /// Sorts by keys; where these are the same, by name.
    func sorted<Row>(_ rows: [Row], figure: (Row) -> Double?, text: (Row) -> String, name: (Row) -> String) -> [Row] {
        let isText = order == .name || order == .transport || order == .interface
        let keyed = rows.map { row in
            (row: row, figure: isText ? 0 : figure(row) ?? -1, text: isText ? text(row) : "", name: name(row))
        }
        return keyed.sorted { one, other in
            if isText, one.text != other.text { return (one.text < other.text) != isReversed }
            if one.figure != other.figure { return (one.figure > other.figure) != isReversed }
            return one.name < other.name
        }.map(\.row)
    }
}

/// What a row is about: it stays selected while others come, go and change places.
enum TopRowID: Hashable, Sendable {
    case stream(String)
    case event(stream: String, name: String)
    case subscriber(peer: String, interface: String)
}

/// A stream, or one of its events.
struct TopStreamRow {
    let id: TopRowID
    let name: String
    let figures: TopModel.Figures
    /// nil for an event.
    let interface: TopModel.Interface?
}

/// One that is attached to an interface.
struct TopSubscriberRow {
    let id: TopRowID
    let subscriber: StatusSubscriber
    let interface: String
    /// nil: it does not report it.
    let lag: UInt64?
}

extension TopModel {
    func streamRows(_ sorting: TopSorting) -> [TopStreamRow] {
        let streams = interfaces.map { name, interface in
            TopStreamRow(id: .stream(name), name: name, figures: interface.whole, interface: interface)
        }
        return sort(streams, sorting).flatMap { stream -> [TopStreamRow] in
            let events = stream.interface?.events.map { name, figures in
                TopStreamRow(
                    id: .event(stream: stream.name, name: name), name: name, figures: figures, interface: nil)
            }
            return [stream] + sort(events ?? [], sorting)
        }
    }
    private func sort(_ rows: [TopStreamRow], _ sorting: TopSorting) -> [TopStreamRow] {
        sorting.sorted(rows) { row in
            switch sorting.order {
            case .rate: row.figures.rate
            case .p50: row.figures.latency.percentile(0.5).map(Double.init)
            case .p99: row.figures.latency.percentile(0.99).map(Double.init)
            case .lag: row.interface?.lag.map(Double.init)
            // One that does not know how many it lost, lost more than one that lost as many.
            case .lost: row.interface.map { Double($0.lost) + ($0.lostUnknown ? 0.5 : 0) }
            case .name, .transport, .interface: nil
            }
        } text: {
            $0.name
        } name: {
            $0.name
        }
    }
    func subscriberRows(_ sorting: TopSorting) -> [TopSubscriberRow] {
        let rows = interfaces.sorted { $0.key < $1.key }.flatMap { name, interface in
            (interface.status?.subscribers?.listed ?? []).map { subscriber in
                TopSubscriberRow(
                    id: .subscriber(peer: subscriber.peer, interface: name), subscriber: subscriber, interface: name,
                    lag: subscriber.lag(behind: interface.status?.head))
            }
        }
        return sorting.sorted(rows) { row in
            sorting.order == .lag ? row.lag.map(Double.init) : nil
        } text: { row in
            switch sorting.order {
            case .transport: row.subscriber.transport
            case .interface: row.interface
            default: row.subscriber.peer
            }
        } name: {
            $0.subscriber.peer + " " + $0.interface
        }
    }
    /// Of all pages: as a screen lists them.
    func rows(on page: TopPage, _ sorting: TopSorting) -> [TopRowID] {
        switch page {
        case .streams: streamRows(sorting).map(\.id)
        case .subscribers: subscriberRows(sorting).map(\.id)
        }
    }
    /// Whether any interface reports who is attached, and how many are attached that are not listed.
    var subscribersAreKnown: Bool { interfaces.values.contains { $0.status?.subscribers != nil } }
    /// Peers that have no place at a ring, of the interface where most lack one: they get signals.
    var ringLacking: UInt64 { interfaces.values.compactMap { $0.status?.ringLacking }.max() ?? 0 }
    var otherSubscribers: Int { interfaces.values.reduce(0) { $0 + ($1.status?.subscribers?.others ?? 0) } }
}
