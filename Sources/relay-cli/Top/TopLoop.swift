import CRelayShims
import Glibc
import RelayCore
import RelayTool

/// The one thread of `top`: waits for the service, for keys, for signals, for room on the terminal and for the next second, all
/// at once.
struct TopLoop {
    private static let tick = Duration.seconds(1)
    /// What follows an escape within this time belongs to it.
    private static let keyPause = Duration.milliseconds(50)

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
    private var browser: TopBrowser
    private var keys = TopKeyDecoder()
    private var isAsking = false
    private var hasEnded = false
    private var failure: CLIFailure?

    init(
        _ machine: TopMachine, _ screen: TopScreen, _ browser: TopBrowser, terminal: Terminal, counters: TopCounters,
        inbox: TopInbox, signals: SignalDescriptor, duration: Duration?, isUTF8: Bool,
        perform: @escaping (TopMachine.Action) -> Void, askStatus: @escaping ([String]) -> Void
    ) {
        (self.machine, self.screen, self.browser, self.terminal) = (machine, screen, browser, terminal)
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
            // A program that stood still is told so before it counts what came meanwhile.
            takeSignals()
            if hasEnded { break }
            let now = ContinuousClock.now
            if now - last >= Self.tick {
                second(now - last)
                last = now
            }
            let (model, view, browser) = (machine.model, view, browser)
            let next = min(last + Self.tick, deadline ?? last + Self.tick)
            switch screen.update({ view.screen(model, browser) }) {
            case .closed: return failure
            case .failed(let number): return .cannotWrite(errno: number)
            case .drained: wait(until: next, forRoom: false)
            case .blocked: wait(until: next, forRoom: true)
            }
            if let deadline, ContinuousClock.now >= deadline { hasEnded = true }
        }
        return failure
    }
    private var view: TopView {
        let size = terminal.size
        return TopView(width: size.columns, height: size.rows, isUTF8: isUTF8, hasKeys: terminal.keys >= 0)
    }
    private mutating func second(_ duration: Duration) {
        act(machine.tick(counters.take(), seconds: duration.inSeconds))
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
            .reading(inbox.wakeup.descriptor), .reading(signals.descriptor), .reading(terminal.keys),
            pollfd.writing(terminal.output, forRoom: forRoom),
        ]
        let isMidKey = keys.isWaiting
        Poll.wait(&polls, until: isMidKey ? min(end, .now + Self.keyPause) : end)
        if polls[1].revents != 0 { takeSignals() }
        if polls[2].revents != 0 {
            readKeys()
        } else if isMidKey, let key = keys.timeout() {
            took(key)
        }
        if polls[3].isOver { hasEnded = true }
    }
    private mutating func takeSignals() { while let number = signals.next() { took(number) } }
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
        for byte in bytes.prefix(max(0, count)) {
            if let key = keys.take(byte) { took(key) }
        }
    }
    private mutating func took(_ key: TopKey) {
        let (model, page) = (machine.model, browser.page)
        let rows = model.rows(on: page, browser.sorting)
        switch browser.take(key, rows: rows, room: view.room(model, on: page)) {
        case .none: break
        case .draw: screen.setNeedsDrawing()
        case .quit: hasEnded = true
        }
    }
}
