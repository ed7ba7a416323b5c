import RelayCore

/// What `watch` does about what it hears: a value that says what is next, and does nothing itself.
struct WatchMachine {
    enum Action: Equatable {
        /// Ask the service what it is; the answer goes to `take(discovery:)`.
        case discover
        case follow(EventSelection)
        /// For stderr.
        case note(String)
        /// The end; nil: all is well.
        case end(CLIFailure?)
    }
    private let options: WatchOptions
    private let service: String
    private var printer: EventPrinter
    private var shown: UInt64 = 0
    private var isDiscovering = false
    private var isKnown = false
    private var wasInterrupted = false
    private var hasEnded = false

    init(_ options: WatchOptions, service: String, printer: EventPrinter) {
        (self.options, self.service, self.printer) = (options, service, printer)
    }

    /// False while the service is asked what it is: until then its events cannot be read, and wait.
    var isReady: Bool { !isDiscovering && !hasEnded }

    /// `now` is in microseconds since the Unix epoch.
    mutating func take(_ input: WatchInput, now: UInt64, output: inout ByteBuffer) -> [Action] {
        switch input {
        case .event(let event): show(event, &output)
        case .gap(let interface, let gap):
            show(gap, of: interface, now, &output)
        case .state(let state): take(state)
        }
    }

    private mutating func show(_ event: ObservedEvent, _ output: inout ByteBuffer) -> [Action] {
        let fault = printer.append(event, to: &output)
        shown += 1
        var actions: [Action] = []
        if let fault {
            actions.append(.note("\(event.name) #\(event.stamp.sequence) cannot be read in full: \(fault)"))
        }
        if shown == options.count { actions.append(end(nil)) }
        return actions
    }

    private mutating func show(
        _ gap: Gap, of interface: String, _ now: UInt64, _ output: inout ByteBuffer
    ) -> [Action] {
        printer.append(gap, of: interface, now: now, to: &output)
        return []
    }

    private mutating func take(_ state: ServiceState) -> [Action] {
        switch state {
        case .connecting:
            return absent(isKnown ? nil : "waiting for \(service)")
        case .active:
            isDiscovering = true
            return [.discover]
        case .interrupted:
            wasInterrupted = true
            return absent("\(service) went away; waiting for it")
        case .invalidated(let failure):
            return [end(failure)]
        }
    }

    /// The service is not there: a matter of waiting, unless it was asked not to.
    private mutating func absent(_ note: String?) -> [Action] {
        if !options.waitsForService && !isKnown { return [end(notThere)] }
        return note.map { [.note($0)] } ?? []
    }

    private var notThere: CLIFailure {
        CLIFailure(.unavailable, "no service '\(service)' on this bus; start it, or leave --no-wait out")
    }

    mutating func take(discovery: Result<Catalogue, CLIFailure>) -> [Action] {
        guard isDiscovering else { return [] }
        isDiscovering = false
        let catalogue: Catalogue
        switch discovery {
        case .success(let found): catalogue = found
        case .failure(let failure):
            // It went while it was asked: its state tells so next.
            if failure.code == .unavailable { return absent(nil) }
            if !isKnown { return [end(failure)] }
            return [.note("\(service) is back, but does not tell what it offers: \(failure.message)")]
        }
        let selection: EventSelection
        do throws(CLIFailure) {
            selection = try catalogue.selection(of: options.events)
        } catch {
            if !isKnown { return [end(error)] }
            printer.learn(catalogue.offered.map(\.interface))
            return [.note("\(service) is back, but has changed: \(error.message)")]
        }
        if selection.isEmpty && !isKnown {
            return [
                end(CLIFailure(.unavailable, "\(service) has no events: no interface built with RelayCore has any"))
            ]
        }
        printer.learn(catalogue.offered.map(\.interface))
        defer { (isKnown, wasInterrupted) = (true, false) }
        let note = wasInterrupted && isKnown ? "\(service) is back" : "watching \(service)"
        return [.follow(selection), .note(note)]
    }

    private mutating func end(_ failure: CLIFailure?) -> Action {
        hasEnded = true
        return .end(failure)
    }
}
