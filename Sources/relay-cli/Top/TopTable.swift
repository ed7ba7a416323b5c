import Glibc
import RelayCore
import RelayTool

/// `top` where there is no terminal to draw on: measures for a while, once.
struct TopTable {
    private let counters: TopCounters
    private let inbox: TopInbox
    private let signals: SignalDescriptor
    private let duration: Duration
    private let perform: (TopMachine.Action) -> Void
    private let askStatus: ([String]) -> Void
    private var machine: TopMachine
    private var hasEnded = false
    private var failure: CLIFailure?
    /// nil: it was ended before.
    private(set) var result: TopModel?

    init(
        _ machine: TopMachine, counters: TopCounters, inbox: TopInbox, signals: SignalDescriptor, duration: Duration,
        perform: @escaping (TopMachine.Action) -> Void, askStatus: @escaping ([String]) -> Void
    ) {
        (self.machine, self.counters, self.inbox, self.signals) = (machine, counters, inbox, signals)
        (self.duration, self.perform, self.askStatus) = (duration, perform, askStatus)
    }

    /// nil: all went well.
    mutating func measure() -> CLIFailure? {
        act(machine.start())
        // From when everything is counted to when the service has reported its side.
        var beginning: ContinuousClock.Instant?
        var isAsking = false
        while !hasEnded {
            inbox.wakeup.clear()
            for input in inbox.take() {
                act(machine.take(input))
                // What it is asked for comes in this order.
                if case .programs = input, isAsking {
                    result = machine.model
                    return nil
                }
            }
            if hasEnded { break }
            if machine.isFollowing && beginning == nil {
                beginning = .now
                _ = counters.take()
            }
            if let beginning, !isAsking, ContinuousClock.now - beginning >= duration {
                act(machine.tick(counters.take(), seconds: (ContinuousClock.now - beginning).inSeconds))
                isAsking = true
                askStatus(machine.model.interfaces.keys.sorted())
            }
            wait(until: isAsking ? nil : beginning.map { $0 + duration })
        }
        return failure
    }
    private mutating func act(_ actions: [TopMachine.Action]) {
        for action in actions {
            if case .end(let failure) = action { (hasEnded, self.failure) = (true, failure) } else { perform(action) }
        }
    }
    private mutating func wait(until end: ContinuousClock.Instant?) {
        var polls = [pollfd.reading(inbox.wakeup.descriptor), .reading(signals.descriptor)]
        Poll.wait(&polls, until: end)
        if polls[1].revents != 0, signals.next() != nil { hasEnded = true }
    }
}
