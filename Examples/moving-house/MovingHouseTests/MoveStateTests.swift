import RelayCore
import Relocation
import Testing

@testable import MovingHouse

/// What the window makes of news: values alone.
@Suite("Moving house: the window's state") struct MoveStateTests {
    private var state: MoveState = {
        var state = MoveState(service: "org.example.Move")
        state.connection(.active)
        return state
    }()
    private func page(_ boxes: [Contents.Box], _ items: [Contents.Item] = [], sequence: UInt64 = 0) -> [Contents.Reply]
    {
        [Contents.Reply(epoch: 1, sequence: sequence, boxes: boxes, items: items, next: nil)]
    }
    private func stamp(_ sequence: UInt64) -> Stamp {
        Stamp(epoch: 1, sequence: sequence, previous: 0, publishedAt: Timestamp(microseconds: sequence))
    }
    private let kitchen = Contents.Box(boxID: 1, capacity: 5, title: "Kitchen")
    private let hall = Contents.Box(boxID: 2, capacity: 10, title: "Hall")

    @Test("before the first state there are no boxes, not none")
    mutating func waiting() {
        #expect(state.view.boxes == nil && state.view.summary.isEmpty)
        state.show(page([]))
        #expect(state.view.boxes == [] && state.view.summary == "Nothing is packed yet")
    }
    @Test("boxes and items are shown by rising id, with the load")
    mutating func boxes() {
        let items = (1...6).map { Contents.Item(itemID: 7 - $0, boxID: $0 > 5 ? 2 : 1, title: "\(7 - $0)") }
        state.show(page([hall, kitchen], items))
        let boxes = state.view.boxes ?? []
        #expect(boxes.map(\.title) == ["Kitchen", "Hall"])
        #expect(boxes.map { $0.items.map(\.id) } == [[2, 3, 4, 5, 6], [1]])
        #expect(boxes.map(\.load) == ["5 of 5", "1 of 10"] && boxes.map(\.share) == [1, 0.1])
        #expect(state.view.summary == "2 boxes, 6 of 15 places taken")
    }
    @Test("the bar names each state of the connection, and what the boxes lack")
    mutating func status() {
        state.connection(.connecting)
        #expect(state.view.status.level == .connecting)
        state.connection(.active)
        #expect(state.view.status.level == .connected && state.view.status.text == "Connected to org.example.Move")
        state.fail(RelayError(.notPermitted, "no"))
        #expect(state.view.status.level == .interrupted && state.view.status.text.hasSuffix("no"))
        state.show(page([]))
        #expect(state.view.status.level == .connected)
        state.connection(.interrupted)
        #expect(state.view.status.level == .interrupted)
        state.connection(.invalidated(RelayError(.notPermitted, "not you")))
        #expect(state.view.status.level == .ended && state.view.status.text == "Ended: not you")
    }
    @Test("a gap is shown until it was noticed, and stays in the log")
    mutating func gap() {
        let gap = Gap(3...5, epoch: 1, count: 3, reason: .expired, detail: "at length")
        state.note(gap)
        #expect(state.view.status.gap == "3 events are missing, sequences 3 to 5: the journal no longer has them.")
        let isSent = state.begin(.dismissGap)
        #expect(!isSent && state.view.status.gap == nil)
        #expect(state.view.log.map(\.kind) == [.gap] && state.view.log[0].text == "\(gap)")
    }
    @Test("a command is sent once at a time, and its place shows how it ended until the text changes")
    mutating func forms() {
        let order = MoveAction.order(label: " ", capacity: 5)
        let (first, second) = (state.begin(order), state.begin(.order(label: "Hall", capacity: 5)))
        #expect(first && !second && state.view.order.isBusy && !state.view.pack.isBusy)
        state.finish(order, Note(.refused, "No."))
        #expect(state.view.order.note == Note(.refused, "No.") && !state.view.order.isBusy)
        #expect(state.view.order.completed == 0 && state.view.pack.note == nil)
        _ = state.begin(.edit(.order))
        #expect(state.view.order.note == nil)
        _ = state.begin(order)
        state.finish(order, Note(.done, "Box 1 is ordered."))
        #expect(state.view.order.completed == 1 && state.view.order.note?.kind == .done)
    }
    @Test("a refusal about a box stands in the box, and goes with it")
    mutating func boxNotes() {
        state.show(page([kitchen, hall], [Contents.Item(itemID: 1, boxID: 1, title: "Lamp")]))
        let (dissolve, takeOut) = (MoveAction.dissolve(boxID: 1), MoveAction.takeOut(itemID: 1, boxID: 1))
        _ = state.begin(dissolve)
        _ = state.begin(takeOut)
        #expect(state.view.boxes?[0].isBusy == true && state.view.boxes?[0].items[0].isBusy == true)
        #expect(state.view.boxes?[1].isBusy == false)
        state.finish(takeOut, nil)
        state.finish(dissolve, Note(.refused, "No room."))
        #expect(state.view.boxes?.map(\.note) == [Note(.refused, "No room."), nil])
        state.apply(.boxRemoved(BoxRemoved(boxID: 1)), stamp(1))
        state.show(page([kitchen], sequence: 2))
        #expect(state.view.boxes?.map(\.note) == [nil])
        // An answer that comes after the box has gone is nobody's.
        _ = state.begin(.dissolve(boxID: 2))
        state.finish(.dissolve(boxID: 2), Note(.refused, "Unknown."))
        state.show(page([hall], sequence: 3))
        #expect(state.view.boxes?.map(\.note) == [nil])
    }
    @Test("the log has each kind of event in words, the newest first, with the names that hold at that time")
    mutating func log() {
        state.show(page([kitchen]))
        let events: [Relocation1] = [
            .boxProvisioned(BoxProvisioned(boxID: 2, capacity: 10, title: "Hall")),
            .itemProvisioned(ItemProvisioned(itemID: 1, boxID: 1, title: "Lamp")),
            .itemMoved(ItemMoved(itemID: 1, fromBoxID: 1, toBoxID: 2)),
            .boxRemoved(BoxRemoved(boxID: 1)),
            .itemDistributionFailed(ItemDistributionFailed(itemTitle: "Piano")),
            .boxItemsRedistributionFailed(BoxItemsRedistributionFailed(boxID: 2)),
            .boxRemovalFailed(BoxRemovalFailed(boxID: 2, reason: "no room")),
            .itemRemovalFailed(ItemRemovalFailed(itemID: 1, boxID: 1)),
            .itemRemoved(ItemRemoved(itemID: 1)),
            .itemRemovalFailed(ItemRemovalFailed(itemID: 1, boxID: 2)),
        ]
        for (index, event) in events.enumerated() { state.note(event, stamp(UInt64(index + 1))) }
        let log = state.view.log
        #expect(
            log.reversed().map(\.text) == [
                "“Hall” stands ready for 10 items", "“Lamp” went into “Kitchen”",
                "“Lamp” moved from “Kitchen” to “Hall”", "“Kitchen” is dissolved", "No box had room for “Piano”",
                "No room elsewhere for what is in “Hall”", "“Hall” stays: no room",
                "“Lamp” was not taken out of box 1", "“Lamp” was taken out", "item 1 was not taken out of “Hall”",
            ])
        #expect(
            log.reversed().map(\.kind) == [
                .added, .added, .moved, .removed, .refused, .refused, .refused, .refused, .removed, .refused,
            ])
        #expect(log.first?.time == Timestamp(microseconds: 10) && log.map(\.id) == Array((1...10).reversed()))
    }
    @Test("the log is bounded")
    mutating func bounded() {
        for id in Int64(1)...500 { state.note(.itemRemoved(ItemRemoved(itemID: id)), stamp(UInt64(id))) }
        #expect(state.view.log.count == EventLog.length && state.view.log.first?.text == "item 500 was taken out")
    }
}
