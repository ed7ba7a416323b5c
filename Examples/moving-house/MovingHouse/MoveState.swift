import RelayCore
import Relocation

/// What the window knows, and what it makes of news. A value: tested without a bus, a loop and a widget.
struct MoveState: Sendable {
    private let service: String
    /// nil until the first state has come.
    private(set) var contents: FollowedContents?
    private var log = EventLog()
    private var connection = EventRelay.State.connecting
    /// Why there is no state, or no new one.
    private var trouble: String?
    private var gap: String?
    /// What has been sent and not been answered.
    private var running: Set<MoveAction> = []
    private var notes: [MoveAction.Place: Note] = [:]
    private var completed: [MoveAction.Place: Int] = [:]

    init(service: String) { self.service = service }

    // MARK: News of the service

    mutating func show(_ pages: [Contents.Reply]) {
        let contents = FollowedContents(pages)
        (self.contents, trouble) = (contents, nil)
        log.learn(contents)
        forgetGoneBoxes()
    }
    mutating func apply(_ event: Relocation1, _ stamp: Stamp) {
        contents?.apply(event.event, sequence: stamp.sequence)
        if case .boxRemoved = event { forgetGoneBoxes() }
    }
    /// What is said about a box goes with it.
    private mutating func forgetGoneBoxes() {
        guard let boxes = contents?.boxes else { return }
        notes = notes.filter { if case .box(let id) = $0.key { boxes[id] != nil } else { true } }
    }
    mutating func note(_ event: Relocation1, _ stamp: Stamp) { log.add(event, at: stamp.publishedAt) }
    mutating func note(_ gap: Gap) {
        log.add(gap)
        // The details are in the log.
        self.gap = "\(Gap(gap.sequences, epoch: gap.epoch, count: gap.count, reason: gap.reason))"
    }
    mutating func connection(_ state: EventRelay.State) { connection = state }
    mutating func fail(_ error: RelayError) { trouble = error.message }

    // MARK: What a person does

    /// Returns whether a command is to be sent: the same one is not sent twice at a time.
    mutating func begin(_ action: MoveAction) -> Bool {
        switch action {
        case .edit(let place):
            if !running.contains(where: { $0.place == place }) { notes[place] = nil }
            return false
        case .dismissGap:
            gap = nil
            return false
        case .order, .pack:
            if running.contains(where: { $0.place == action.place }) { return false }
        case .takeOut, .dissolve: break
        }
        if let place = action.place { notes[place] = nil }
        return running.insert(action).inserted
    }
    /// - Parameter note: nil where the window shows by itself that it was done.
    mutating func finish(_ action: MoveAction, _ note: Note?) {
        running.remove(action)
        guard let place = action.place else { return }
        notes[place] = note
        if note?.kind == .done { completed[place, default: 0] += 1 }
        forgetGoneBoxes()
    }

    // MARK: What is shown

    var view: MoveView {
        var view = MoveView()
        (view.status, view.boxes, view.log) = (status, boxes, log.lines)
        (view.order, view.pack) = (form(.order), form(.pack))
        return view
    }
    private var status: Status {
        var status = Status()
        status.gap = gap
        switch connection {
        case .connecting: (status.level, status.text) = (.connecting, "Waiting for \(service)")
        case .active: (status.level, status.text) = (.connected, "Connected to \(service)")
        case .interrupted:
            (status.level, status.text) = (
                .interrupted, "Interrupted: the service is away, and this is what it last said"
            )
        case .invalidated(let error): (status.level, status.text) = (.ended, "Ended: \(error.message)")
        }
        if let trouble, status.level == .connected {
            (status.level, status.text) = (.interrupted, "The boxes cannot be read: \(trouble)")
        }
        return status
    }
    private var boxes: [BoxView]? {
        guard let contents else { return nil }
        let items = Dictionary(grouping: contents.items.values, by: \.boxID)
        return contents.boxes.values.sorted { $0.boxID < $1.boxID }.map { box in
            let items = (items[box.boxID] ?? []).sorted { $0.itemID < $1.itemID }.map { item in
                let taken = MoveAction.takeOut(itemID: item.itemID, boxID: box.boxID)
                return ItemView(id: item.itemID, title: item.title, isBusy: running.contains(taken))
            }
            return BoxView(
                id: box.boxID, title: box.title, capacity: Int(box.capacity), items: items,
                isBusy: running.contains(.dissolve(boxID: box.boxID)), note: notes[.box(box.boxID)])
        }
    }
    private func form(_ place: MoveAction.Place) -> FormView {
        var form = FormView()
        form.isBusy = running.contains { $0.place == place }
        (form.completed, form.note) = (completed[place] ?? 0, notes[place])
        return form
    }
}
