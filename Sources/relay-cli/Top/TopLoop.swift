import CRelayShims
import Glibc
import RelayCore
import RelayTool

/// The one thread of `top`: waits for the service, for keys, for signals, for room on the terminal and for the next second, all
/// at once.
struct TopLoop {
    private static let tick = Duration.seconds(1)

    let counters: TopCounters
    let inbox: TopInbox
    let signals: SignalDescriptor
    let terminal: Terminal
    let duration: Duration?
    let isUTF8: Bool
    /// Also asks for the status of interfaces.
    let perform: (TopMachine.Action) -> Void
    let askStatus: ([String]) -> Void

    var machine: TopMachine
    var screen: TopScreen
    private var isAsking = false
    private var hasEnded = false
    private var failure: CLIFailure?

    init(
        _ machine: TopMachine, _ screen: TopScreen, terminal: Terminal, counters: TopCounters, inbox: TopInbox,
        signals: SignalDescriptor, duration: Duration?, isUTF8: Bool,
        perform: @escaping (TopMachine.Action) -> Void, askStatus: @escaping ([String]) -> Void
    ) {
        (self.machine, self.screen, self.terminal) = (machine, screen, terminal)
        (self.counters, self.inbox, self.signals) = (counters, inbox, signals)
        (self.duration, self.isUTF8, self.perform, self.askStatus) = (duration, isUTF8, perform, askStatus)
    }

    /// Returns when it is over, with the terminal as it was; nil: in a good way.
    mutating func run() -> CLIFailure? {
        terminal.enter()
        defer { terminal.leave() }
        let deadline = duration.map { ContinuousClock.now + $0 }
        var last = ContinuousClock.now
        act(machine.start())
        while !hasEnded {
            inbox.wakeup.clear()
            for input in inbox.take() {
                if case .status = input { isAsking = false }
                act(machine.take(input))
                screen.setNeedsDrawing()
            }
            if hasEnded { break }
            let now = ContinuousClock.now
            if now - last >= Self.tick {
                second(now - last)
                last = now
            }
            let (model, view) = (machine.model, view())
            switch screen.update({ view.lines(model) }) {
            case .closed: return failure
            case .failed(let number): return .cannotWrite(errno: number)
            case .drained: wait(until: min(last + Self.tick, deadline ?? last + Self.tick), forRoom: false)
            case .blocked: wait(until: min(last + Self.tick, deadline ?? last + Self.tick), forRoom: true)
            }
            if let deadline, ContinuousClock.now >= deadline { hasEnded = true }
        }
        return failure
    }
    private func view() -> TopView {
        let size = terminal.size
        return TopView(width: size.columns, height: size.rows, isUTF8: isUTF8, hasKeys: terminal.keys >= 0)
    }
    private mutating func second(_ duration: Duration) {
        let (seconds, attoseconds) = duration.components
        machine.tick(counters.take(), seconds: Double(seconds) + Double(attoseconds) / 1e18)
        screen.setNeedsDrawing()
        if machine.isFollowing, !isAsking {
            isAsking = true
            askStatus(machine.model.interfaces.keys.sorted())
        }
    }
    private mutating func act(_ actions: [TopMachine.Action]) {
        for action in actions {
            if case .end(let failure) = action { (hasEnded, self.failure) = (true, failure) } else { perform(action) }
        }
    }

    // MARK: Waiting

    private mutating func wait(until end: ContinuousClock.Instant, forRoom: Bool) {
        var polls = [
            pollfd(fd: inbox.wakeup.descriptor, events: Int16(POLLIN), revents: 0),
            pollfd(fd: signals.descriptor, events: Int16(POLLIN), revents: 0),
            pollfd(fd: terminal.keys, events: Int16(POLLIN), revents: 0),
            pollfd(fd: terminal.output, events: forRoom ? Int16(POLLOUT) : 0, revents: 0),
        ]
        let (seconds, attoseconds) = max(.zero, end - .now).components
        let milliseconds = Int32(clamping: seconds * 1_000 + attoseconds / 1_000_000_000_000_000 + 1)
        _ = poll(&polls, nfds_t(polls.count), milliseconds)
        if polls[1].revents != 0 { while let number = signals.next() { took(number) } }
        if polls[2].revents != 0 { readKeys() }
        if polls[3].revents & Int16(POLLERR | POLLHUP | POLLNVAL) != 0 { hasEnded = true }
    }
    private mutating func took(_ number: Int32) {
        switch number {
        case SIGWINCH: screen.setNeedsDrawing()
        case SIGTSTP: stop()
        case SIGCONT:
            counters.resume(now: Timestamp.now.microseconds)
            terminal.enter()
            screen.setNeedsDrawing()
        default: hasEnded = true
        }
    }
    /// Gives the terminal back, and does what the signal would have done; goes on from there.
    private mutating func stop() {
        terminal.leave()
        var set = sigset_t()
        sigemptyset(&set)
        sigaddset(&set, SIGTSTP)
        pthread_sigmask(SIG_UNBLOCK, &set, nil)
        raise(SIGTSTP)
        pthread_sigmask(SIG_BLOCK, &set, nil)
        counters.resume(now: Timestamp.now.microseconds)
        terminal.enter()
        screen.setNeedsDrawing()
    }
    private mutating func readKeys() {
        var bytes = [UInt8](repeating: 0, count: 64)
        let count = read(terminal.keys, &bytes, bytes.count)
        if count < 0 && (errno == EINTR || errno == EAGAIN) { return }
        // None: the terminal is gone.
        if count <= 0 { hasEnded = true }
        for byte in bytes.prefix(max(0, count)) where byte == UInt8(ascii: "q") || byte == UInt8(ascii: "Q") {
            hasEnded = true
        }
    }
}
