import CRelayShims
import Glibc
import RelayCore
import RelayTool

/// The one thread of `watch`: waits for events, for room in the output, for a signal and for the end of the time, all
/// at once, so that none of them can hold up another.
struct WatchLoop {
    /// Text composed ahead of a slow output. Past it events wait in the queue, which is bounded.
    private static let mostComposed = 256 << 10
    /// How long an output that takes nothing can delay the end.
    private static let grace = Duration.seconds(1)

    let queue: WatchQueue
    let wakeup: Wakeup
    /// Readable when the end is asked for.
    let stop: Int32
    let duration: Duration?
    let perform: (WatchMachine.Action) -> Void
    /// Microseconds since the Unix epoch.
    let now: () -> UInt64
    /// Of the reader of the lines; nil: a line counts as seen when it was written.
    private var confirmations: LineConfirmations?

    private var output: OutputChannel
    private var machine: WatchMachine
    private var inputs: ArraySlice<WatchInput> = []
    private var sources: WatchSources
    private var sourcesFirst = false
    private var hasEnded = false
    private var failure: CLIFailure?
    /// What there is to say, each when the output has taken so many bytes: a reader of both has them in their order.
    private var notes: ArraySlice<(end: UInt64, text: String)> = []
    /// Past it they are said at once: an output may stand still for hours.
    private static let mostNotes = 64
    /// When the end comes though the output has not taken everything.
    private var patience: ContinuousClock.Instant?

    init(
        _ machine: WatchMachine, output: OutputChannel, queue: WatchQueue, wakeup: Wakeup, stop: Int32,
        duration: Duration?, confirmations: LineConfirmations? = nil, now: @escaping () -> UInt64,
        perform: @escaping (WatchMachine.Action) -> Void
    ) {
        (self.machine, self.output, self.queue, self.wakeup) = (machine, output, queue, wakeup)
        (self.stop, self.duration, self.now, self.perform) = (stop, duration, now, perform)
        self.confirmations = confirmations
        sources = WatchSources(marksEach: confirmations != nil)
    }

    /// Returns when the watch is over; nil: in a good way.
    mutating func run() -> CLIFailure? {
        let failure = watch()
        say(.max)
        // What the reader confirmed before it went away counts.
        if confirmations != nil { takeConfirmations() }
        return sources.cancel() ? failure : failure ?? Self.placeLost
    }
    private static let placeLost = CLIFailure(
        .outputFailed, "the place of --resume could not be written: a watch of this name shows the last events again")

    private mutating func watch() -> CLIFailure? {
        let deadline = duration.map { ContinuousClock.now + $0 }
        act(machine.start())
        while true {
            wakeup.clear()
            let hasMore = takeInputs()
            machine.reportSkipped(now: now(), isLast: hasEnded, output: &output.pending)
            if confirmations != nil { output.countLines() }
            let outcome = output.write()
            if confirmations == nil { sources.written(output.taken) } else { takeConfirmations() }
            say(output.taken)
            switch outcome {
            case .closed: return failure
            case .failed(let number):
                return .cannotWrite(errno: number)
            case .drained where hasEnded && isSeen: return failure
            case .drained, .blocked: break
            }
            if confirmations?.hasEnded == true { return failure }
            if let patience, ContinuousClock.now >= patience { return failure }
            // Also with more to show at once: events may come faster than they are shown, and a signal must be heard.
            let isBusy = hasMore && outcome == .drained
            let woken = wait(
                until: isBusy ? nil : nextTime(deadline), forRoom: outcome == .blocked, isBusy: isBusy)
            if woken.byClosedOutput { return failure }
            let isOver = deadline.map { ContinuousClock.now >= $0 } ?? false
            if (woken.byStop || isOver) && patience == nil { finish() }
        }
    }

    private func nextTime(_ deadline: ContinuousClock.Instant?) -> ContinuousClock.Instant? {
        let report = machine.reportsAt.map { time in
            ContinuousClock.now + .microseconds(Int64(clamping: time - min(time, now())))
        }
        return [patience ?? deadline, report].compactMap { $0 }.min()
    }

    /// Returns whether there may be more than was composed now.
    private mutating func takeInputs() -> Bool {
        for answer in queue.takeAnswers() where !hasEnded {
            switch answer {
            case .discovered(let outcome): act(machine.take(discovery: outcome, now: now(), output: &output.pending))
            case .following: act(machine.following())
            case .begun(let more, let notes):
                sources.add(more)
                act(machine.following() + notes.map { .note($0) })
            case .refused(let failure): act(machine.refused(failure))
            case .states(let states, let notes):
                act(notes.map { .note($0) } + machine.take(states: states, now: now(), output: &output.pending))
            }
        }
        // Each is first in turn: either could fill the output alone.
        sourcesFirst.toggle()
        let early = sourcesFirst && takeSources()
        let middle = takeQueue()
        let late = !sourcesFirst && takeSources()
        return early || middle || late
    }

    private mutating func takeQueue() -> Bool {
        while machine.isReady && !hasEnded && output.waitingBytes < Self.mostComposed {
            if inputs.isEmpty { inputs = queue.takeAll()[...] }
            guard let input = inputs.popFirst() else { return false }
            act(machine.take(input, now: now(), output: &output.pending))
        }
        return machine.isReady && !hasEnded
    }

    /// Returns whether there is more in the journals than was composed now.
    private mutating func takeSources() -> Bool {
        guard machine.isReady, !hasEnded, output.waitingBytes < Self.mostComposed else {
            return !hasEnded && machine.isReady
        }
        let confirms = confirmations != nil
        // Out of the loop's state, which showing an event changes.
        var sources = WatchSources()
        swap(&sources, &self.sources)
        defer { swap(&sources, &self.sources) }
        return sources.take { source, delivery in
            switch delivery {
            // It needs no asking what it is, and is not put off: its place moves on.
            case .event(let event): act(machine.show(event, isTaken: true, now: now(), &output.pending))
            case .gap(let gap):
                act(machine.take(.gap(interface: source.interface, gap), now: now(), output: &output.pending))
            case .caughtUp: act(machine.caughtUp(with: source.interface))
            }
            let goesOn = machine.isReady && !hasEnded && output.waitingBytes < Self.mostComposed
            guard confirms else { return (output.composed, goesOn) }
            output.countLines()
            return (output.lines, goesOn)
        }
    }

    /// Whether the end waits for nobody: after a failure the reader may be what failed.
    private var isSeen: Bool { failure != nil || confirmations?.isComplete(output.lines) ?? true }
    private mutating func takeConfirmations() {
        // Of those that its reader can have read: what waits here for room in the pipe is not among them.
        confirmations?.take(of: output.takenLines)
        sources.written(confirmations?.count ?? 0)
    }

    /// Shows what has arrived, if the output takes it soon.
    private mutating func finish() {
        patience = ContinuousClock.now + Self.grace
        if hasEnded { return }
        for input in inputs + queue.takeAll() where machine.isReady && !hasEnded {
            act(machine.take(input, now: now(), output: &output.pending))
        }
        hasEnded = true
    }

    private mutating func act(_ actions: [WatchMachine.Action]) {
        for action in actions {
            switch action {
            case .end(let failure): (hasEnded, self.failure) = (true, failure)
            case .note(let text): notes.append((output.composed, text))
            case .discover, .follow, .show: perform(action)
            }
        }
        // What has nothing before it does not wait for what comes.
        say(notes.count > Self.mostNotes ? .max : output.taken)
    }
    /// Says what comes behind what the output has taken.
    private mutating func say(_ taken: UInt64) {
        while let note = notes.first, note.end <= taken {
            notes.removeFirst()
            perform(.note(note.text))
        }
    }

    private func wait(
        until end: ContinuousClock.Instant?, forRoom: Bool, isBusy: Bool
    ) -> (byStop: Bool, byClosedOutput: Bool) {
        var polls = [
            pollfd.reading(wakeup.descriptor),
            // Asked for once; after that the descriptor stays readable.
            .reading(patience == nil ? stop : -1), .writing(output.descriptor, forRoom: forRoom),
            .reading(confirmations?.descriptor ?? -1),
        ]
        Poll.wait(&polls, until: isBusy ? .now : end)
        return (polls[1].revents != 0, polls[2].isOver)
    }
}
