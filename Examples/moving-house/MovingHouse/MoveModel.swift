public import RelayCore
import Relocation

/// The view model: keeps a `MoveView` in step with the service, and sends what a person asks for.
///
/// It knows no widget. The window's loop runs the main actor.
@MainActor public final class MoveModel {
    private let relay: EventRelay
    private let logStart: Timestamp?
    private var state: MoveState
    private var subscriptions: [Subscription] = []
    private var log: EventStream<Relocation1>?
    private var show: ((MoveView) -> Void)?
    private var shown: MoveView?
    private var isDue = false

    /// - Parameter relay: follows the service.
    /// - Parameter logStart: the log has the events since then; nil for those after the first state.
    public init(_ relay: EventRelay, logStart: Timestamp? = nil) {
        (self.relay, self.logStart) = (relay, logStart)
        state = MoveState(service: relay.service)
    }
    deinit { log?.cancel() }

    /// Follows the service from now on. Before the relay is activated.
    ///
    /// - Parameter show: is called with what there is to show, now and after each change.
    public func start(show: @escaping (MoveView) -> Void) throws {
        self.show = show
        let states = relay.publisher.subscribe(to: EventRelay.State.self) { [weak self] state in
            self?.change { $0.connection(state) }
        } onGap: { _ in
        }
        let contents = try relay.follow(Relocation1.self, pages: Contents()) { [weak self] pages in
            self?.change { $0.show(pages) }
            self?.readLog(after: pages)
        } then: { [weak self] event, stamp in
            self?.change { $0.apply(event, stamp) }
        } onFailure: { [weak self] error in
            self?.change { $0.fail(error) }
        }
        subscriptions = [states, contents]
        change { _ in }
    }
    /// The log is a subscription of its own: the state skips what a later state includes, and the log must not.
    private func readLog(after pages: [Contents.Reply]) {
        guard log == nil, let first = pages.first else { return }
        do {
            let start = logStart.map { StreamPosition.since($0) }
            let events = try relay.events(
                of: Relocation1.self, from: start ?? .after(epoch: first.epoch, sequence: first.sequence))
            log = events
            Task { [weak self] in for await delivery in events { self?.note(delivery) } }
        } catch { change { $0.fail(RelayError(.internalFailure, "there is no log: \(error)", cause: error)) } }
    }
    private func note(_ delivery: EventOrGap<Relocation1>) {
        change { state in
            switch delivery {
            case .event(let event, let stamp): state.note(event, stamp)
            case .gap(let gap): state.note(gap)
            }
        }
    }

    /// Many changes at once are shown once.
    private func change(_ body: (inout MoveState) -> Void) {
        body(&state)
        if isDue { return }
        isDue = true
        Task { showNow() }
    }
    private func showNow() {
        isDue = false
        let view = state.view
        if view == shown { return }
        shown = view
        show?(view)
    }

    // MARK: What a person does

    public func perform(_ action: MoveAction) {
        var isSent = false
        change { isSent = $0.begin(action) }
        if !isSent { return }
        Task {
            let note = await send(action)
            change { $0.finish(action, note) }
        }
    }
    private func send(_ action: MoveAction) async -> Note? {
        switch action {
        case .order(let label, let capacity):
            note(await relay.outcome(of: OrderBox(label: label, capacity: capacity))) { "Box \($0.boxID) is ordered." }
        case .pack(let title):
            note(await relay.outcome(of: DistributeItem(title: title))) { "It is in box \($0.boxID)." }
        // The box and the item go from the window: there is nothing else to say.
        case .dissolve(let boxID): note(await relay.outcome(of: RemoveBox(boxID: boxID))) { _ in nil }
        case .takeOut(let itemID, let boxID):
            note(await relay.outcome(of: RemoveItem(itemID: itemID, boxID: boxID))) { _ in nil }
        case .edit, .dismissGap: nil
        }
    }
    private func note<C: Command>(_ outcome: CommandOutcome<C>, done: (C.Reply) -> String?) -> Note? {
        switch outcome {
        case .success(let reply): done(reply).map { Note(.done, $0) }
        case .refused(let failure): Note(.refused, sentence(failure.message))
        case .failed(let error):
            Note(.failed, reason(error) + (error.mayHaveRun ? " It may have been done: look." : " Nothing was done."))
        }
    }
    private func reason(_ error: RelayError) -> String {
        switch error.code {
        case .unavailable: "The service is away."
        case .timedOut: "The service has not answered in time."
        default: sentence(error.message)
        }
    }
    private func sentence(_ text: String) -> String {
        text.prefix(1).uppercased() + text.dropFirst() + (text.hasSuffix(".") ? "" : ".")
    }
}
