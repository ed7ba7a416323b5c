import RelayCore
import RelayTool
import Synchronization

/// Begins a `watch` at a place in the journal: takes a subscription to each durable interface, and follows the others.
final class WatchBeginning: Sendable {
    private let start: WatchStart
    private let service: String
    private let followed: any FollowedService
    private let reader: JournalReader
    private let onNews: @Sendable () -> Void
    /// The interfaces whose events are taken already: over all runs of the service.
    private let begun = Mutex<Set<String>>([])

    init(
        _ start: WatchStart, service: String, followed: any FollowedService, reader: JournalReader,
        onNews: @escaping @Sendable () -> Void
    ) {
        (self.start, self.service, self.followed, self.reader) = (start, service, followed, reader)
        self.onNews = onNews
    }

    /// Returns when all that is published from then on will be seen. Once at a time: the next discovery comes after it.
    func begin(_ selection: EventSelection) async -> WatchQueue.Answer {
        if start == .now {
            await followed.follow(selection)
            return .following
        }
        do {
            return try await begun(selection)
        } catch {
            let failure = CLIFailure(ofCall: error)
            // It left meanwhile, or the bus did. It is asked again when it comes back.
            return failure.code == .unavailable ? .following : .refused(failure)
        }
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
        return .begun(sources, notes: unkept.map { "\($0) keeps no events: they are shown from now on" })
    }

    private func check(_ durable: [String]) throws(CLIFailure) {
        if durable.isEmpty {
            throw CLIFailure(
                .badValue, "\(service) keeps none of these events: leave --\(option) out to see them from now on")
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
