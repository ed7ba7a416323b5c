import RelayCore
import RelayTool
import Synchronization

/// What the bus's side tells `top`, but for events, which are counted.
enum TopInput: Sendable {
    case state(ServiceState)
    /// The bus cannot be reached, in words; it is tried again.
    case outage(String)
    case discovered(Discovery.Outcome)
    case following
    /// nil: the service did not tell.
    case status([(interface: String, status: TopStatus?)])
    /// What programs are behind unique names, as far as that is known.
    case programs([String: String])
}

/// Between the threads of the bus and that of the screen. One input for each question, and for each time the service comes or goes.
final class TopInbox: Sendable {
    private let inputs = Mutex<[TopInput]>([])
    let wakeup: Wakeup

    init(wakeup: Wakeup) { self.wakeup = wakeup }

    func post(_ input: TopInput) {
        inputs.withLock { $0.append(input) }
        wakeup.wake()
    }
    func take() -> [TopInput] {
        inputs.withLock { inputs in
            defer { inputs = [] }
            return inputs
        }
    }
}

/// What `top` does about what it hears: a value that says what is next, and does nothing itself.
struct TopMachine {
    enum Action: Equatable {
        /// Ask the service what it is; the answer is a `.discovered`.
        case discover
        /// Then `.following`.
        case follow(EventSelection)
        /// The end; nil: all is well.
        case end(CLIFailure?)
    }
    private let events: [String]
    private let service: String
    private let bus: Bus
    /// Whether to wait for a service that is not there.
    private let waits: Bool
    private(set) var model: TopModel
    private var isDiscovering = false
    /// It is to be asked once more when it has answered, for it came meanwhile.
    private var asksAgain = false
    private var isStale = true
    private var isKnown = false
    /// It is known not to be there: it is heard when it comes.
    private var isGone = false
    /// All that is published is counted.
    private(set) var isFollowing = false

    init(events: [String], service: String, on bus: Bus = .session, waits: Bool) {
        (self.events, self.service, self.bus, self.waits) = (events, service, bus, waits)
        model = TopModel(service: service)
        model.notice = "looking for \(service)"
    }

    mutating func start() -> [Action] { discover() }

    mutating func take(_ input: TopInput) -> [Action] {
        switch input {
        case .state(.active):
            isGone = false
            return isStale ? discover() : []
        case .state(.interrupted):
            (isStale, isFollowing, isGone) = (true, false, true)
            if isKnown { model.notice = "\(service) went away; waiting for it" }
            return []
        case .state(.invalidated(let failure)): return [.end(failure)]
        case .outage(let message):
            if isKnown { model.notice = message + "; trying again" }
            return []
        case .discovered(let outcome): return take(outcome)
        case .following:
            isFollowing = true
            return []
        case .status(let all):
            for (name, status) in all { model.take(status, of: name) }
            return []
        case .programs(let programs):
            model.take(programs: programs)
            return []
        }
    }
    /// A service that came back and did not answer is asked again: nothing more is heard of one that goes on running.
    mutating func tick(_ tallies: [String: TopTally], seconds: Double) -> [Action] {
        model.tick(tallies, seconds: seconds)
        return isStale && isKnown && !isGone && !isDiscovering ? discover() : []
    }

    private mutating func discover() -> [Action] {
        if isDiscovering {
            asksAgain = true
            return []
        }
        (isDiscovering, asksAgain) = (true, false)
        return [.discover]
    }
    private mutating func take(_ outcome: Discovery.Outcome) -> [Action] {
        isDiscovering = false
        // It came while it was asked: that it was absent, or failed, may be an answer of the time before.
        if asksAgain, !outcome.isFound { return discover() }
        switch outcome {
        case .absent:
            if !waits { return [.end(.absent(service, on: bus))] }
            isGone = true
            model.notice = isKnown ? "\(service) went away; waiting for it" : "waiting for \(service)"
            return []
        case .cannotStart(let failure):
            if !waits { return [.end(failure)] }
            model.notice = failure.message
            return []
        case .failed(let failure) where isKnown:
            // It left meanwhile, and is asked when it comes back; or did not answer, and is asked with the next tick.
            model.notice = failure.message
            return []
        case .failed(let failure): return [.end(failure)]
        case .found(let catalogue): return found(catalogue)
        }
    }
    private mutating func found(_ catalogue: Catalogue) -> [Action] {
        isStale = false
        let selection: EventSelection
        do throws(CLIFailure) { selection = try catalogue.selection(of: events) } catch {
            model.notice = error.message
            return isKnown ? [] : [.end(error)]
        }
        if selection.isEmpty && !isKnown {
            return [.end(CLIFailure(.unavailable, "\(service) has no events; 'list' shows what it has"))]
        }
        (isKnown, model.notice) = (true, nil)
        model.follow(selection)
        return [.follow(selection)]
    }
}
