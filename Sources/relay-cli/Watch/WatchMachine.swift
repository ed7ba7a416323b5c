import RelayCore
import RelayTool
import RelayWire

/// What `watch` does with what it receives: a value that returns what is next, and does nothing itself.
struct WatchMachine {
    enum Action: Equatable {
        /// Ask the service what it is; the answer goes to `take(discovery:)`.
        case discover
        /// Then `following()`.
        case follow(EventSelection)
        /// Then ask for the present states of these documents; the answer goes to `take(states:)`.
        case show([DocumentTarget])
        /// For stderr.
        case note(String)
        /// The end; nil: all is well.
        case end(CLIFailure?)
    }
    private let watch: Watch
    private let service: String
    private let bus: Bus
    private var printer: EventPrinter
    /// nil: every event is shown.
    private var sampler: LineSampler?
    /// nil: every event is looked at.
    private var sieve: EventSieve?
    private var shown: UInt64 = 0
    private var isDiscovering = false
    /// The present run of the service has not described itself.
    private var isStale = true
    /// An event of such a run: what it means has to be asked first.
    private var deferred: Envelope?
    /// The service was there once.
    private var isKnown = false
    private var hasSaidWaiting = false
    private var announcement = ""
    /// The interfaces of which everything was shown that they kept when the watch began.
    private var caughtUp: Set<String> = []
    private var hasEnded = false
    /// The documents whose present states come before all changes.
    private var unshown: [DocumentTarget] = []
    /// The documents that were asked for, whose states are shown.
    private var documents: [DocumentTarget] = []
    /// The interfaces that have another history now, which brings what is above this sequence: a state up to there is
    /// brought by nothing else.
    private var replaced: [String: UInt64] = [:]
    /// The interfaces of a run that has ended: the next one's documents begin anew.
    private var ended: Set<String> = []
    /// What was shown of them, by their interfaces' and their own names.
    private var states: [String: DocumentVersion] = [:]

    /// - Parameter linesPerSecond: nil: every event is shown.
    init(
        _ watch: Watch, service: String, on bus: Bus = .session, printer: EventPrinter, linesPerSecond: UInt64? = nil
    ) {
        (self.watch, self.service, self.bus, self.printer) = (watch, service, bus, printer)
        sieve = watch.view.filter.map { EventSieve($0) }
        sampler = linesPerSecond.map { LineSampler(perSecond: $0) }
    }

    /// False while the service is asked what it is, or its documents are: until then its events cannot be read, and wait.
    var isReady: Bool { !isDiscovering && unshown.isEmpty && !hasEnded }

    /// The first thing to do: the service may be there, and if not, the answer shows it.
    mutating func start() -> [Action] { discover() }

    /// `now` is in microseconds since the Unix epoch.
    mutating func take(_ input: WatchInput, now: UInt64, output: inout ByteBuffer) -> [Action] {
        switch input {
        case .event(let event) where isStale:
            deferred = event
            return discover()
        case .event(let event):
            return show(event, now: now, &output)
        case .gap(let interface, let gap) where printer.notesGaps:
            return [.note("\(interface): \(gap)")]
        case .gap(let interface, let gap):
            printer.append(gap, of: interface, now: now, to: &output)
            return (gap.detail.map { [.note("\(interface): \($0)")] } ?? []) + lookAgain(at: interface, behind: gap)
        case .state(.active):
            return isStale ? discover() : []
        case .state(.interrupted):
            isStale = true
            return isKnown ? [.note("\(service) went away; waiting for it")] : []
        case .state(.invalidated(let failure)):
            return [end(failure)]
        // Before, what is asked of the service fails with it.
        case .outage(let message):
            return isKnown ? [.note(message + "; trying again")] : []
        }
    }

    /// The states of documents that were shown may be of what is undone, or has ended.
    private mutating func lookAgain(at interface: String, behind gap: Gap) -> [Action] {
        let affected = documents.filter { $0.interface == interface }
        if affected.isEmpty || hasEnded { return [] }
        guard let common = gap.commonThrough else {
            if gap.isOpenEnded { ended.insert(interface) }
            return []
        }
        for document in affected { states[document.interface + "." + document.event.name] = nil }
        replaced[interface] = common
        unshown += affected.filter { !unshown.contains($0) }
        return [.show(unshown)]
    }
    private mutating func discover() -> [Action] {
        isDiscovering = true
        return [.discover]
    }

    /// Shows an event, unless there are too many. `now` as in `take`.
    ///
    /// - Parameter isTaken: whether it was taken from a place in the journal. What was asked for of the past is whole.
    mutating func show(
        _ event: Envelope, isTaken: Bool = false, now: UInt64, _ output: inout ByteBuffer
    ) -> [Action] {
        if isCovered(event) { return [] }
        if sieve?.admits(event) == false { return [] }
        let isPast = isTaken && watch.start != .now && !caughtUp.contains(event.interface)
        if !isPast, sampler?.takes(event.interface, event.name, now: now) == false { return [] }
        let fault = printer.append(event, to: &output)
        shown += 1
        var actions: [Action] = []
        if let fault {
            actions.append(.note("\(event.name) #\(event.stamp.sequence) cannot be read in full: \(fault)"))
        }
        if shown == watch.count { actions.append(end(nil)) }
        return actions
    }

    /// Whether a document's state was shown that counts this change.
    private func isCovered(_ event: Envelope) -> Bool {
        if states.isEmpty { return false }
        guard let shown = states[event.interface + "." + event.name], shown.epoch == event.stamp.epoch else {
            return false
        }
        return event.stamp.sequence <= shown.sequence
    }
    /// The present states have come, or some of them have not. `now` as in `take`.
    mutating func take(states found: [DocumentState], now: UInt64, output: inout ByteBuffer) -> [Action] {
        // Of two answers the first counts.
        if hasEnded || unshown.isEmpty { return [] }
        unshown = []
        defer { replaced = [:] }
        var actions: [Action] = []
        for state in found {
            if let common = replaced[state.interface], state.version.sequence > common { continue }
            states[state.interface + "." + state.name] = state.version
            if let fault = printer.append(state, now: now, to: &output) {
                actions.append(.note("\(state.name) cannot be read in full: \(fault)"))
            }
        }
        return actions
    }

    /// When `reportSkipped` has something to report; nil: never.
    var reportsAt: UInt64? { sampler?.reportsAt }
    mutating func reportSkipped(now: UInt64, isLast: Bool = false, output: inout ByteBuffer) {
        for (interface, count) in sampler?.takeSkipped(now: now, isLast: isLast) ?? [] {
            printer.append(skipped: count, of: interface, now: now, to: &output)
        }
    }

    mutating func take(discovery: Discovery.Outcome, now: UInt64, output: inout ByteBuffer) -> [Action] {
        guard isDiscovering, !hasEnded else { return [] }
        isDiscovering = false
        var actions: [Action]
        switch discovery {
        case .absent: actions = absent()
        case .cannotStart(let failure): actions = cannotStart(failure)
        case .failed(let failure) where isKnown && failure == .notRelay(service):
            isStale = false
            actions = [.note("\(service) is back, but has changed: \(failure.message)")]
        // It left meanwhile, or the bus did, which is reported as its state: it is asked again when it comes back.
        case .failed(let failure) where isKnown && failure.code == .unavailable: actions = []
        case .failed(let failure) where isKnown:
            isStale = false  // Its events come all the same: they are shown as it described them before.
            actions = [.note("\(service) does not report what it offers: \(failure.message)")]
        case .failed(let failure): actions = [end(failure)]
        case .found(let catalogue): actions = found(catalogue)
        }
        if let event = deferred, !hasEnded {
            deferred = nil
            actions += show(event, now: now, &output)
        }
        return actions
    }

    /// A matter of waiting, unless it was asked not to. What was there before has been reported as away.
    private mutating func absent() -> [Action] {
        if isKnown || hasSaidWaiting { return [] }
        if !watch.waitsForService {
            return [end(.absent(service, on: bus, "name another with --service, or leave --no-wait out"))]
        }
        hasSaidWaiting = true
        return [.note("waiting for \(service)")]
    }

    /// Somebody may mend what keeps it from starting: also a matter of waiting.
    private mutating func cannotStart(_ failure: CLIFailure) -> [Action] {
        if isKnown { return [.note(failure.message)] }
        if !watch.waitsForService { return [end(failure)] }
        if hasSaidWaiting { return [] }
        hasSaidWaiting = true
        return [.note(failure.message), .note("waiting for \(service)")]
    }

    private mutating func found(_ catalogue: Catalogue) -> [Action] {
        isStale = false
        printer.learn(catalogue.offered.map(\.interface))
        let selection: EventSelection
        do throws(CLIFailure) {
            selection = try catalogue.selection(of: watch.events)
            let interfaces = catalogue.offered.map(\.interface)
            try watch.view.check(interfaces, selection)
            try sieve?.learn(interfaces, selection)
        } catch {
            return isKnown ? [.note("\(service) is back, but has changed: \(error.message)")] : [end(error)]
        }
        if selection.isEmpty && !isKnown {
            return [end(CLIFailure(.unavailable, "\(service) has no events; 'list' shows what it has"))]
        }
        announcement = isKnown ? "\(service) is back" : "watching \(service)"
        // A state is no event, for which an expression could hold.
        documents = watch.view.showsStates ? catalogue.documents(among: watch.events) : []
        if watch.start == .now { unshown = isKnown ? documents.filter { ended.contains($0.interface) } : documents }
        ended = []
        isKnown = true
        return [.follow(selection)]
    }

    /// All that is published from now on will be seen.
    func following() -> [Action] {
        if hasEnded { return [] }
        return unshown.isEmpty ? [.note(announcement)] : [.note(announcement), .show(unshown)]
    }
    /// It cannot begin where it was asked to.
    mutating func refused(_ failure: CLIFailure) -> [Action] { hasEnded ? [] : [end(failure)] }
    /// Everything that an interface kept when the watch began has been shown.
    mutating func caughtUp(with interface: String) -> [Action] {
        caughtUp.insert(interface)
        // Who begins now has nothing to catch up with.
        return hasEnded || watch.start == .now ? [] : [.note("up to date with \(interface)")]
    }

    private mutating func end(_ failure: CLIFailure?) -> Action {
        hasEnded = true
        return .end(failure)
    }
}
