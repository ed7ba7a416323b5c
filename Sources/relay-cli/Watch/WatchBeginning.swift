import RelayCore
import RelayTool
import Synchronization

/// Where `watch` begins.
enum WatchStart: Equatable, Sendable {
    case now
    case since(StreamPoint)
    /// Where the subscriber of this name stopped. nil: its place is kept in the standard folder.
    case resuming(name: String, folder: String?)
}

/// Begins a `watch` at a place in the journal: takes a subscription to each durable interface, and follows the others.
final class WatchBeginning: Sendable {
    private let start: WatchStart
    private let isTail: Bool
    private let service: String
    private let followed: any FollowedService
    private let reader: JournalReader
    private let onNews: @Sendable () -> Void
    /// The interfaces whose events are taken already: over all runs of the service.
    private let begun = Mutex<Set<String>>([])
    /// The interfaces that are followed, without a place of their own: they stay so.
    private let live = Mutex<Set<String>>([])

    init(
        _ start: WatchStart, isTail: Bool, service: String, followed: any FollowedService, reader: JournalReader,
        onNews: @escaping @Sendable () -> Void
    ) {
        (self.start, self.isTail, self.service) = (start, isTail, service)
        (self.followed, self.reader) = (followed, reader)
        self.onNews = onNews
    }

    /// Returns when all that is published from then on will be seen. Once at a time: the next discovery comes after it.
    func begin(_ selection: EventSelection) async -> WatchQueue.Answer {
        if start == .now { return await begunNow(selection) }
        do {
            return try await begun(selection)
        } catch {
            let failure = CLIFailure(ofCall: error)
            // It left meanwhile, or the bus did. It is asked again when it comes back.
            return failure.code == .unavailable ? .following : .refused(failure)
        }
    }

    /// A durable interface's events are taken from its journal where they come faster than they are shown.
    private func begunNow(_ selection: EventSelection) async -> WatchQueue.Answer {
        var live = EventSelection()
        var sources: [WatchSource] = []
        for (interface, names) in selection.names {
            if begun.withLock({ $0.contains(interface) }) { continue }
            // A service that does not report it is followed all the same.
            guard !self.live.withLock({ $0.contains(interface) }), (try? await reader.isDurable(interface)) == true,
                let place = try? await reader.position(of: interface),
                let events = try? followed.subscribe(
                    interface: interface, names: names,
                    // With its run: the service may end before it has heard of this subscription, and its successor
                    // have another history.
                    from: .after(epoch: place.epoch, sequence: place.sequence), onNews: onNews)
            else {
                live.names.updateValue(names, forKey: interface)
                self.live.withLock { _ = $0.insert(interface) }
                continue
            }
            begun.withLock { _ = $0.insert(interface) }
            sources.append(WatchSource(interface: interface, events: events))
        }
        await followed.follow(live)
        return .begun(sources, notes: [])
    }

    private func begun(_ selection: EventSelection) async throws -> WatchQueue.Answer {
        var durable: [String] = []
        var live = EventSelection()
        for (interface, names) in selection.names {
            if try await reader.isDurable(interface) {
                durable.append(interface)
            } else {
                live.names.updateValue(names, forKey: interface)
            }
        }
        durable.sort()
        let isFirst = begun.withLock { $0.isEmpty }
        if isFirst { try check(durable) }
        var sources: [WatchSource] = []
        for interface in durable where begun.withLock({ $0.insert(interface).inserted }) {
            let events = try followed.subscribe(
                interface: interface, names: selection.names[interface] ?? nil, from: position, onNews: onNews)
            sources.append(WatchSource(interface: interface, events: events))
        }
        await followed.follow(live)
        let unkept = isFirst ? live.names.keys.sorted() : []
        let beyond = isFirst ? await noteBeyondEnd(of: durable) : []
        return .begun(sources, notes: beyond + unkept.map { "\($0) keeps no events: they are shown from now on" })
    }
    /// Who waits for a sequence that is far away has probably mistaken it.
    private func noteBeyondEnd(of durable: [String]) async -> [String] {
        guard case .since(.sequence(let first)) = start, let interface = durable.first,
            let head = try? await reader.position(of: interface).sequence, first > head, first - head > 1
        else { return [] }
        let last = HistoryLoop.end(of: interface, head: head)
        return ["--since \(first) is beyond the end: \(last); events are shown from now on"]
    }

    private func check(_ durable: [String]) throws(CLIFailure) {
        if durable.isEmpty {
            let advice = isTail ? "'watch' shows them" : "leave --\(option) out to see them"
            throw CLIFailure(.badValue, "\(service) keeps none of these events: \(advice) from now on")
        }
        guard case .since(.sequence(let sequence)) = start, durable.count > 1 else { return }
        throw CLIFailure(
            .usage,
            "'--since \(sequence)' is a sequence of one interface, but these were asked for: "
                + durable.joined(separator: ", ") + "; name events of one, or give a time")
    }
    private var option: String { if case .resuming = start { "resume" } else { "since" } }

    private var position: StreamPosition {
        switch start {
        case .now: .now
        case .since(.oldest): .beginning
        case .since(.sequence(let first)): StreamPosition(.at(first))
        case .since(.time(let time)): .since(time)
        case .resuming(let name, _): .resuming(name)
        }
    }
}
