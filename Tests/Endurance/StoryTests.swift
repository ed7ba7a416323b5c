import Relocation
import TestSupport
import Testing

/// The checker of facts sees what it is there to see.
@Suite("The checker of facts") struct StoryTests {
    private let texts: [UInt64: String] = [
        1: #"{"event":"BoxProvisioned","fields":{"boxID":1,"capacity":5,"title":"Attic (a 1)"}}"#,
        2: #"{"event":"ItemProvisioned","fields":{"itemID":1,"boxID":1,"title":"Lamp (a 2)"}}"#,
        3: #"{"event":"ItemProvisioned","fields":{"itemID":2,"boxID":1,"title":"Globe (a 3)"}}"#,
        4: #"{"event":"ItemRemoved","fields":{"itemID":1}}"#,
    ]
    private let contents = Warehouse(
        boxes: [.init(boxID: 1, capacity: 5, title: "Attic (a 1)")],
        items: [.init(itemID: 2, boxID: 1, title: "Globe (a 3)")])
    private var memory: Driver.Memory {
        var memory = Driver.Memory(name: "a")
        memory.boxes = [1: "Attic (a 1)"]
        memory.items = [2: Driver.Item(title: "Globe (a 3)", boxID: 1)]
        memory.facts = [
            .ordered(label: "Attic (a 1)", boxID: 1), .distributed(title: "Lamp (a 2)", itemID: 1, boxID: 1),
            .distributed(title: "Globe (a 3)", itemID: 2, boxID: nil), .itemRemoved(1),
        ]
        return memory
    }

    @Test("a true story has no faults, and rebuilds the state") func whole() {
        let story = Story(texts)
        #expect(story.faults.isEmpty)
        #expect(story.replay.contents == contents)
        #expect(story.faults(of: memory, contents: contents) == [])
    }

    @Test("an answered command without its event is a fault", arguments: 1...4 as ClosedRange<UInt64>)
    func missing(sequence: UInt64) {
        var texts = texts
        texts[sequence] = nil
        #expect(!Story(texts).faults(of: memory, contents: contents).isEmpty)
    }

    @Test(
        "a command that ran twice, a wrong id, a state that differs, and events that contradict each other are faults")
    func wrong() {
        var twice = texts
        twice[5] = #"{"event":"ItemProvisioned","fields":{"itemID":3,"boxID":1,"title":"Globe (a 3)"}}"#
        #expect(!Story(twice).faults(of: memory, contents: contents).isEmpty)
        var wrong = memory
        wrong.facts.append(.boxRemoved(1))
        #expect(!Story(texts).faults(of: wrong, contents: contents).isEmpty)
        var more = memory
        more.items[3] = Driver.Item(title: "Sled (a 4)", boxID: 1)
        #expect(!Story(texts).faults(of: more, contents: contents).isEmpty)
        #expect(!Story(texts).faults(of: memory, contents: Warehouse()).isEmpty)
        var early = texts
        early[5] = #"{"event":"ItemDistributionFailed","fields":{"itemTitle":"Sled (a 4)"}}"#
        #expect(!Story(early).faults.isEmpty, "there was room")
        var contradicting = texts
        contradicting[5] = #"{"event":"ItemRemoved","fields":{"itemID":1}}"#
        #expect(!Story(contradicting).faults.isEmpty)
        #expect(!Story([1: #"{"event":"Unheard","fields":{}}"#]).faults.isEmpty)
    }
}
